// SPDX-License-Identifier: Apache-2.0
//
// Records what one site held at the end of each step, and the sizes of its objects during the run. The former shows a
// buffer that is replaced by a larger one in step after step; the latter distinguishes it from growing inputs.
#ifndef ANALYZER_LEAKS_STEP_LEVELS_H_
#define ANALYZER_LEAKS_STEP_LEVELS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/leaks/site_history.h"

namespace vramtrack {

struct SiteLevel {
  uint64_t bytes = 0, objects = 0;

  bool operator==(const SiteLevel& other) const { return bytes == other.bytes && objects == other.objects; }
};

// The total that a site had allocated before a step.
struct SiteBirths {
  Step step = 0;
  uint64_t objects = 0, bytes = 0;
};

// The levels of a site, in bins of equally many steps from step 0 on. The last bin may be shorter.
struct StepLevels {
  Step steps_per_bin = 1;
  std::vector<SiteLevel> least;   // the lowest at any time within the bin
  std::vector<SiteLevel> low;     // the lowest at the end of any step of the bin
  std::vector<SiteLevel> sample;  // at the end of one step of the bin, which is the same step for all sites
};

// Adds `more` to `*sum`. The minimum of a sum does not follow from the minima of its parts, so all three series of the
// result are those of the sampled steps. Both must be of one run, hence equally long.
void AddLevels(const StepLevels& more, StepLevels* sum);

// Builds StepLevels. Memory: one entry for each bin in which the level at the end of a step changes, and at most
// kMaxBins for any length of the run. A site whose objects never outlive a step has no entries. A call takes constant
// time on average. Not thread-safe.
class StepLevelsBuilder {
 public:
  static constexpr Step kMaxBins = 256;

  // States that the site held `level` at the ends of all steps from the `until` of the last call up to, but not
  // including, `until`. It was never lower than `least` within the first of them. `births`: its total allocations by
  // then.
  void OnLevel(Step until, SiteLevel level, SiteLevel births, SiteLevel least);
  void OnLevel(Step until, SiteLevel level, SiteLevel births) { OnLevel(until, level, births, level); }

  // Returns how often the level changed, at the resolution of the bins.
  size_t changes() const { return runs_.size() + (any_ ? 1 : 0); }
  // Returns the total allocations by about step 8, 16, 32, ..., ascending.
  const std::vector<SiteBirths>& births() const { return births_; }

  // Returns the levels for a run of `complete_steps` steps. The calls of OnLevel must cover them all.
  StepLevels Finish(Step complete_steps) const;

 private:
  // A run of equal bins: from `bin` to the bin of the next Run.
  struct Run {
    Step bin = 0;
    SiteLevel least, low, sample;
  };

  void Add(Step from, Step until, SiteLevel level, SiteLevel least);
  void OpenBin(Step bin);
  void CloseBin();
  void Append(const Run& run);
  void Coarsen();

  std::vector<Run> runs_;  // closed bins; before the first of them the site held nothing
  Run open_;               // the present bin
  std::vector<SiteBirths> births_;
  Step next_ = 0;
  Step width_ = 1;
  Step sample_step_ = 0;  // the sampled step of open_
  bool any_ = false;      // whether the site ever held something at a step's end
};

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_STEP_LEVELS_H_
