// SPDX-License-Identifier: Apache-2.0
//
// Records what one allocation site did, step by step. This is the input of every leak verdict. A site is one device,
// one level and one stack. The caller decides what its objects are: blocks, driver allocations or handles.
//
// Steps are dense indices of the run, 0 to RunShape::steps - 1, not the job's own numbers. Events before the first
// boundary belong to step 0. Events after the last one belong to step RunShape::steps, which is not complete.
#ifndef ANALYZER_LEAKS_SITE_HISTORY_H_
#define ANALYZER_LEAKS_SITE_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

using Step = uint32_t;

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

// Counts of objects by completed lifetime in steps. Bin 0 counts lifetime 0 (freed in the step of birth); bin i >= 1
// counts lifetimes in [2^(i-1), 2^i).
using LifetimeHistogram = std::array<uint64_t, 33>;

struct HistoryTotals {
  std::vector<Deaths> deaths;    // by step, ascending; only bins with deaths
  uint32_t death_bin_steps = 1;  // a power of two; more than 1 only if thousands of steps have deaths

  // The longest lifetime of objects that were freed in a complete step, except those born in step 0.
  uint32_t max_completed_lifetime_steps = 0;
  // The same for objects born in step 0. What a job sets up before its first step has other lifetimes.
  uint32_t max_setup_lifetime_steps = 0;

  // Totals over all complete steps. The cohorts may have less, because steps without survivors may be absent.
  uint64_t born_objects = 0, born_bytes = 0;
  uint64_t died_objects = 0, died_bytes = 0;
  uint32_t birth_steps = 0;              // steps with a birth
  Step first_birth = 0, last_birth = 0;  // meaningful if born_objects > 0
  uint64_t unmatched_deaths = 0;         // deaths without a birth: damage in the trace

  uint64_t live_objects() const { return born_objects - died_objects; }
  uint64_t live_bytes() const { return born_bytes - died_bytes; }
};

struct SiteHistory : HistoryTotals {
  std::vector<Cohort> cohorts;  // by step, ascending; steps without survivors may be absent
  // What was allocated after the last complete step, if all of it was live when the last of it was allocated; else
  // none.
  uint32_t tail_objects = 0;
  uint64_t tail_bytes = 0;
  LifetimeHistogram completed_lifetimes{};
};

// Returns the history of one site that did everything that these sites did. All must be of one run. The result is exact
// except for birth_steps, the number of steps with a birth at any of them, which is an upper bound.
SiteHistory Merged(std::vector<SiteHistory> all);

// Returns the history with its objects only, as if each had no bytes: for what is counted and holds no memory.
SiteHistory WithoutBytes(SiteHistory history);

// The steps of a run.
struct RunShape {
  Step steps = 0;                      // complete steps
  Step warmup_end = 0;                 // the first step after warm-up, see WarmupEnd() in windows.h
  bool windows = false;                // its steps are windows of equally many allocated bytes
  std::vector<uint64_t> step_numbers;  // the job's own number of each step; empty: the index is the number

  uint64_t NumberOf(Step step) const { return step < step_numbers.size() ? step_numbers[step] : step; }
};

// Builds a SiteHistory from the events of one site in the order in which they happened. Memory: one entry for each step
// that still has a live object, and at most a few thousand more, for any length of the trace. Time: constant for
// short-lived objects, logarithmic in the number of cohorts otherwise. A site without cohorts takes about 200 bytes,
// because there may be millions of sites with a few events each. Not thread-safe.
class SiteHistoryBuilder {
 public:
  // Adds `objects` allocated objects with `bytes` in all. The step of successive calls must not decrease.
  void OnBirth(Step step, uint64_t bytes, uint32_t objects = 1);

  // Has the effect of OnBirth and OnDeath for objects that were allocated and freed in `step`, but is faster. `step`
  // must have no other births, and it must be complete.
  void OnShortLived(Step step, uint32_t objects, uint64_t bytes);

  // Removes `objects` with `bytes` in all that were allocated in `birth_step` and are freed in `step`.
  void OnDeath(Step birth_step, Step step, uint64_t bytes, uint32_t objects = 1);

  // States that objects may have lived up to `lifetime_steps`, although their births and deaths were added in one step.
  // For objects that are known as sums only.
  void OnFoldedLifetime(uint32_t lifetime_steps);

  // States that the step that is not complete allocated these and freed none of them before the last was allocated.
  void OnTail(uint32_t objects, uint64_t bytes);

  // Returns the history of the first `complete_steps` steps. Events in step `complete_steps` are left out: a job frees
  // everything when it ends, and that must not hide a leak. There must have been no events in later steps.
  SiteHistory Finish(Step complete_steps) const;

 private:
  struct OpenCohort {
    Cohort cohort;
    // Deaths in step latest_step_. They are subtracted when the next step begins, because only then is it known whether
    // latest_step_ counts.
    uint32_t dying_objects = 0;
    uint64_t dying_bytes = 0;
  };

  static constexpr size_t kFewCohorts = 64;

  void BeginStep(Step step);
  void SettleDeaths();
  void DropEmptyCohorts();
  void RecordDeaths(Deaths deaths);
  OpenCohort& BornIn(Step step);  // returns the cohort of `step`, which is added if it is new
  void CountBirthStep(Step step);
  void CountLifetime(uint32_t lifetime_steps, uint64_t objects);
  OpenCohort* Find(Step birth_step);  // null if no object of that step is live

  std::vector<OpenCohort> cohorts_;
  std::vector<Step> dying_cohorts_;  // birth steps of the cohorts with deaths in latest_step_
  Step latest_step_ = 0;
  Step previous_birth_ = 0;  // the last step with a birth before settled_.last_birth
  size_t compact_at_ = kFewCohorts;
  // Totals and deaths of settled steps. The totals include the births of latest_step_; Finish subtracts them if
  // necessary.
  HistoryTotals settled_;
  uint32_t tail_objects_ = 0;
  uint64_t tail_bytes_ = 0;
  std::vector<uint64_t> lifetimes_;  // as SiteHistory::completed_lifetimes, up to the last bin with any
};

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SITE_HISTORY_H_
