// SPDX-License-Identifier: Apache-2.0
//
// How much one site held at the end of each step, and how large its objects were as the run went on: what tells a
// buffer that is replaced by a larger one in step after step, and inputs that grow, which look alike.
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

// What a site had allocated in all before a step.
struct SiteBirths {
  Step step = 0;
  uint64_t objects = 0, bytes = 0;
};

// Bins of equally many steps, from step 0 on; the last one may be cut short.
struct StepLevels {
  Step steps_per_bin = 1;
  std::vector<SiteLevel> least;   // the lowest at any time within the bin
  std::vector<SiteLevel> low;     // the lowest at the end of any step of the bin
  std::vector<SiteLevel> sample;  // at the end of one step of the bin, which is the same step for all sites
};

// Adds `more` to `sum`: the lowest of a sum is not known from the parts, so that all series become that of the sampled
// steps. Both must be of one run, hence equally long.
void AddLevels(const StepLevels& more, StepLevels* sum);

// Fills StepLevels. Memory: one entry for each bin in which the level at a step's end is not what it was before, hence
// none at all for a site whose objects never outlive a step; at most kMaxBins, whatever the length of the run. Constant
// time on average. Not thread-safe.
class StepLevelsBuilder {
 public:
  static constexpr Step kMaxBins = 256;

  // The site held `level` at the ends of all steps from the one after those of the last call up to, not including,
  // `until`, and was never lower than `least` within the first of them. `births`: what it had allocated in all by then.
  void OnLevel(Step until, SiteLevel level, SiteLevel births, SiteLevel least);
  void OnLevel(Step until, SiteLevel level, SiteLevel births) { OnLevel(until, level, births, level); }

  // How often the level changed, as far as bins tell.
  size_t changes() const { return runs_.size() + (any_ ? 1 : 0); }
  // At steps of about 8, 16, 32, ..., ascending.
  const std::vector<SiteBirths>& births() const { return births_; }

  // For a run of `complete_steps`, which must be known.
  StepLevels Finish(Step complete_steps) const;

 private:
  // Bins from this one to the next run's are alike.
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
  Step sample_step_ = 0;  // of open_
  bool any_ = false;      // whether the site ever held something at a step's end
};

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_STEP_LEVELS_H_
