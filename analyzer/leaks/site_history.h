// SPDX-License-Identifier: Apache-2.0
//
// Records what one allocation site did, step by step. This is the input of every leak verdict. A site is one device,
// one level and one stack. The caller decides what its objects are: blocks, driver allocations or handles.
#ifndef ANALYZER_LEAKS_SITE_HISTORY_H_
#define ANALYZER_LEAKS_SITE_HISTORY_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/leaks/births.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {

// The objects that were allocated in one step.
struct Cohort {
  Step step = 0;
  uint32_t born_objects = 0;
  uint64_t born_bytes = 0;
  // The survivors: those that were live when the last complete step ended.
  uint64_t live_bytes = 0;
  uint32_t live_objects = 0;
};

// The objects that were freed in steps [step, step + SiteHistory::death_bin_steps) and had outlived the step of their
// birth.
struct Deaths {
  Step step = 0;
  uint32_t objects = 0;
  uint64_t bytes = 0;
  uint32_t longest = 0;  // the longest life among them in steps, without those born in step 0
};

struct SiteHistory {
  std::vector<Cohort> cohorts;   // by step, ascending; steps without survivors may be absent
  std::vector<Deaths> deaths;    // by step, ascending; only bins with deaths
  uint32_t death_bin_steps = 1;  // a power of two; more than 1 only if thousands of steps have deaths
  // Counts of objects by completed lifetime in steps. Bin 0 counts lifetime 0 (freed in the step of birth); bin i >= 1
  // counts lifetimes in [2^(i-1), 2^i). Up to the last bin that has any.
  std::vector<uint64_t> completed_lifetimes;

  // The longest lifetime of objects that were freed in a complete step, except those born in step 0: what a job sets up
  // before its first step has other lifetimes.
  uint32_t max_completed_lifetime_steps = 0;

  // Totals over all complete steps. The cohorts may have less, because steps without survivors may be absent.
  uint64_t born_objects = 0, born_bytes = 0;
  uint64_t died_objects = 0, died_bytes = 0;
  uint32_t birth_steps = 0;              // steps with a birth
  Step first_birth = 0, last_birth = 0;  // meaningful if born_objects > 0

  uint64_t live_objects() const { return born_objects - died_objects; }
  uint64_t live_bytes() const { return born_bytes - died_bytes; }
};

// Returns the history of one site that did everything that these sites did. All must be of one run. The result is exact
// except for birth_steps, the number of steps with a birth at any of them, which is an upper bound.
SiteHistory Merged(const std::vector<SiteHistory>& all);

// Returns the history with its objects only, as if each had no bytes: for what is counted and holds no memory.
SiteHistory WithoutBytes(SiteHistory history);

// Builds a SiteHistory from the events of one site in the order in which they happened. Memory: one entry for each step
// that still has a live object, and at most a few thousand more, for any length of the trace. Time: constant for
// short-lived objects, logarithmic in the number of cohorts otherwise. A site without cohorts takes about 250 bytes,
// because there may be millions of sites with a few events each. Not thread-safe.
class SiteHistoryBuilder {
 public:
  // Adds `objects` allocated objects with `bytes` in all. The step of successive calls must not decrease.
  void OnBirth(Step step, uint64_t bytes, uint32_t objects = 1) {
    BeginStep(step);
    if (born_.objects == 0) NoteBirths(step_, {history_.born_objects, history_.born_bytes}, &births_);
    born_.objects += objects;
    born_.bytes += bytes;
  }

  // Removes `objects` with `bytes` in all that were allocated in `birth_step` and are freed in `step`. Deaths without a
  // birth come from damage in the trace; they are left out.
  void OnDeath(Step birth_step, Step step, uint64_t bytes, uint32_t objects = 1) {
    BeginStep(step);
    if (birth_step < step_) return OnLateDeath({birth_step, objects, bytes});
    if (died_.objects + objects > born_.objects) return;
    died_.objects += objects;
    died_.bytes += bytes;
  }

  // States that objects may have lived up to `lifetime_steps`, although their births and deaths were added in one step.
  // For objects that are known as sums only.
  void OnFoldedLifetime(uint32_t lifetime_steps) {
    history_.max_completed_lifetime_steps = std::max(history_.max_completed_lifetime_steps, lifetime_steps);
  }

  // Returns the history of the first `complete_steps` steps. Events in step `complete_steps` are left out: a job frees
  // everything when it ends, and that must not hide a leak. There must have been no events in later steps.
  SiteHistory Finish(Step complete_steps) const;
  // Returns the total that the site had allocated by step 8, 16, 32, ... and by the end of the run.
  BirthTotals births(Step complete_steps) const;

 private:
  // Objects that were born in one step and died in the present one, which is later.
  struct LateDeath {
    Step birth_step;
    uint32_t objects;
    uint64_t bytes;
  };

  static constexpr size_t kFewCohorts = 64;

  void BeginStep(Step step) {
    if (__builtin_expect(step <= step_, 1)) return;
    EndStep();
    step_ = step;
  }
  void OnLateDeath(LateDeath death);
  void EndStep();
  void CountLifetime(uint32_t lifetime_steps, uint64_t objects);
  Cohort* Find(Step birth_step);  // null if there is none

  Step step_ = 0;       // the present one
  Births born_, died_;  // in it, and those of them that died in it
  std::vector<LateDeath> late_deaths_;
  SiteHistory history_;  // of the steps before, except that its cohorts lack what died in the present one
  BirthTotals births_;
  size_t compact_at_ = kFewCohorts;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SITE_HISTORY_H_
