// SPDX-License-Identifier: Apache-2.0
//
// What one allocation site did, step by step: the input of every leak verdict. A site is one device, one level and one
// stack; what counts as its objects (blocks, driver allocations, handles) is up to who fills it in.
//
// Steps are dense indices of the run, 0 to RunShape::steps - 1, not the numbers that the job gave them. Events before
// the first boundary belong to step 0, events after the last one to step RunShape::steps, which is not complete.
#ifndef ANALYZER_LEAKS_SITE_HISTORY_H_
#define ANALYZER_LEAKS_SITE_HISTORY_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

using Step = uint32_t;

// The objects that were born in one step.
struct Cohort {
  Step step = 0;
  uint32_t born_objects = 0;
  uint64_t born_bytes = 0;
  // Of these, alive when the last complete step ended: the survivors.
  uint64_t live_bytes = 0;
  uint32_t live_objects = 0;
};

// The objects that died in steps [step, step + SiteHistory::death_bin_steps) and had outlived the step of their birth.
struct Deaths {
  Step step = 0;
  uint32_t objects = 0;
  uint64_t bytes = 0;
};

// Objects by completed lifetime in steps. Bin 0 holds lifetime 0 (freed in the step of its birth), bin i >= 1 holds
// lifetimes in [2^(i-1), 2^i).
using LifetimeHistogram = std::array<uint64_t, 33>;

struct HistoryTotals {
  std::vector<Deaths> deaths;    // by step, ascending; only bins with deaths
  uint32_t death_bin_steps = 1;  // a power of two; more than 1 only where deaths fell in thousands of steps

  // Of objects that died in a complete step.
  uint32_t max_completed_lifetime_steps = 0;  // of those not born in step 0
  // Of those born in step 0: what a job sets up before its first step lives by other rules.
  uint32_t max_setup_lifetime_steps = 0;

  // Over all complete steps; the cohorts may hold less, see above.
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
  LifetimeHistogram completed_lifetimes{};
};

// What one site would have done that did all that both did, of one run. Exact but for birth_steps, the steps with a
// birth in either, of which only bounds are known: the upper one is taken.
SiteHistory Merged(const SiteHistory& a, const SiteHistory& b);

// Figures of the run that a site's verdict depends on.
struct RunShape {
  Step steps = 0;                      // complete steps
  Step warmup_end = 0;                 // the first step after warm-up, see WarmupEnd() in windows.h
  uint64_t device_total_bytes = 0;     // 0: unknown, or host memory
  uint64_t horizon_steps = 100000;     // the run's planned length, for what a leak will come to
  bool windows = false;                // its steps are windows of equally many bytes allocated
  std::vector<uint64_t> step_numbers;  // the job's own number of each step; empty: the index is the number

  uint64_t NumberOf(Step step) const { return step < step_numbers.size() ? step_numbers[step] : step; }
};

// Fills a SiteHistory from the events of one site in the order in which they happened. Memory: one entry for each step
// that still has a live object, and at most a few thousand more, whatever the length of the trace. Time: constant for
// objects that die young, logarithmic in the number of cohorts otherwise. There may be millions of sites with a handful
// of events each, so one without cohorts takes about 200 bytes. Not thread-safe.
class SiteHistoryBuilder {
 public:
  // `objects` of `bytes` together are born. The step of successive calls must not decrease.
  void OnBirth(Step step, uint64_t bytes, uint32_t objects = 1);

  // The same as OnBirth and OnDeath of objects that were born in `step` and died in it, but faster. `step` must have no
  // other births, and it must be complete.
  void OnShortLived(Step step, uint32_t objects, uint64_t bytes);

  // `objects` of `bytes` together that were born in `birth_step` are gone.
  void OnDeath(Step birth_step, Step step, uint64_t bytes, uint32_t objects = 1);

  // Objects told of with OnShortLived or in a step of their own may have lived up to `lifetime_steps`: all that is
  // known of objects whose births and deaths are known as sums only.
  void OnFoldedLifetime(uint32_t lifetime_steps);

  // The history of the first `complete_steps` steps. What happened in step `complete_steps` is left out: a job that
  // ends frees everything on its way out, and that must not hide a leak. Steps after that one must not have occurred.
  SiteHistory Finish(Step complete_steps) const;

 private:
  struct OpenCohort {
    Cohort cohort;
    // Deaths in step latest_step_, not yet taken off: whether that step counts is known when the next one begins.
    uint32_t dying_objects = 0;
    uint64_t dying_bytes = 0;
  };

  static constexpr size_t kFewCohorts = 64;

  void BeginStep(Step step);
  void SettleDeaths();
  void DropEmptyCohorts();
  void RecordDeaths(Step step, uint32_t objects, uint64_t bytes);
  OpenCohort& BornIn(Step step);  // adds it if need be
  void CountBirthStep(Step step);
  void CountLifetime(uint32_t lifetime_steps, uint64_t objects);
  OpenCohort* Find(Step birth_step);  // null: nobody of that step is alive

  std::vector<OpenCohort> cohorts_;
  std::vector<Step> dying_cohorts_;  // birth steps of the cohorts with deaths in latest_step_
  Step latest_step_ = 0;
  Step previous_birth_ = 0;  // the last step with a birth before settled_.last_birth
  size_t compact_at_ = kFewCohorts;
  // Totals and deaths of settled steps. Births of latest_step_ are in the totals too; Finish takes them off if need be.
  HistoryTotals settled_;
  std::vector<uint64_t> lifetimes_;  // as SiteHistory::completed_lifetimes, up to the last bin with any
};

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_SITE_HISTORY_H_
