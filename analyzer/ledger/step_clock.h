// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_STEP_CLOCK_H_
#define ANALYZER_LEDGER_STEP_CLOCK_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/steps/regular_gaps.h"

namespace vramtrack {

// A part of a run whose steps are of one kind, as decided before the replay.
struct PlannedPhase {
  enum class Kind { kSteps, kWindows, kUnjudged };

  Kind kind = Kind::kSteps;
  std::string source = "none";  // as in the report
  std::string name;             // of the range that its steps are, with "#" for numbers; empty: they have none
  double coverage = 0;          // share of the run that its steps or windows cover; meaningful where a plan has phases
  double share = 1;             // share of the run that lies in it
};

// Where the steps of a run end, as decided before its replay. One of these:
//   mark_slot     every STEP event of one thread
//   anchor_site   before each allocation of one site
//   at_inside     where an optimizer begins to allocate
//   marks         MARK and STEP events that were picked one by one, and instants
// or nothing.
struct StepPlan {
  // The mark of a thread, counted among its MARK and STEP events, that ends a step, and the phase that begins then.
  struct MarkEnd {
    uint64_t mark = 0;
    uint32_t phase = 0;
  };
  // The first event at or after this instant begins a step.
  struct Cut {
    uint64_t time = 0;  // ticks
    uint32_t phase = 0;
  };

  std::string source = "none";  // as in the report: of the phase that covers most
  ThreadSlot mark_slot;         // the thread whose STEP events count; with picked marks, the one that tells of values
  SiteIndex anchor_site;
  IndexedVector<StackIndex, bool> inside;                 // within an optimizer's step; empty if that does not matter
  bool at_inside = false;                                 // the first allocation within an optimizer's step ends a step
  IndexedVector<ThreadSlot, std::vector<MarkEnd>> marks;  // ascending
  std::vector<Cut> cuts;                                  // ascending

  std::vector<PlannedPhase> phases;  // by time; empty: all steps are of one kind
  bool windows = false;              // there are no steps; windows of the run stand for them
  uint64_t window_bytes = 0;         // with windows: what is allocated in one, on average, of what comes and goes
  double coverage = 1;               // share of the run that steps cover
  double judged = 1;                 // that steps or windows cover
  std::string name;                  // of the range that a step is; empty: it has none
  std::string runner_up;             // what else could have been a step; empty: nothing
  uint64_t runner_up_count = 0;

  std::vector<OuterLoop> outer;  // loops around the steps

  bool picks() const { return !marks.empty() || !cuts.empty(); }
  bool has_steps() const { return !mark_slot.is_none() || !anchor_site.is_none() || at_inside || picks(); }
  bool has_windows() const { return windows; }
};

// Numbers the steps while events go by. Steps are dense indices; what the job calls them is in numbers().
// Thread-compatible.
class StepClock {
 public:
  // A phase and the first step that is part of it.
  struct PhaseStart {
    uint32_t phase = 0, step = 0;
  };

  explicit StepClock(StepPlan plan)
      : plan_(std::move(plan)),
        marks_(plan_.marks.size()),
        next_time_(plan_.cuts.empty() ? UINT64_MAX : plan_.cuts[0].time) {
    if (!plan_.phases.empty()) starts_.push_back({});
  }

  // To be called before an allocation counts. True if a step ends before it.
  bool OnAllocation(SiteIndex site) {
    if (__builtin_expect(site != plan_.anchor_site, 1)) return false;
    ++step_;
    return true;
  }
  // To be called before an allocation counts if the plan's at_inside is set. True if a step ends before it.
  bool OnAllocationBy(StackIndex stack) {
    const bool inside = plan_.inside.Has(stack) && plan_.inside[stack];
    const bool entered = inside && !inside_;
    inside_ = inside;
    if (!entered) return false;
    ++step_;
    return true;
  }
  // When the next step ends by time alone.
  uint64_t next_time() const { return next_time_; }
  // To be called for an event at next_time() or later, before it counts and until that is no longer so: a step ends.
  void PassTime() {
    const StepPlan::Cut& cut = plan_.cuts[next_cut_++];
    next_time_ = next_cut_ < plan_.cuts.size() ? plan_.cuts[next_cut_].time : UINT64_MAX;
    EnterPhase(cut.phase);
  }
  // To be called for each MARK and STEP event. True if a step ends with it. `number`: of a STEP.
  bool OnMark(ThreadSlot slot, bool is_step, uint64_t number) {
    if (!plan_.picks()) {
      if (!is_step || slot != plan_.mark_slot) return false;
      numbers_.push_back(number);
      ++step_;
      return true;
    }
    if (!marks_.Has(slot)) return false;
    Marks& of = marks_[slot];
    const std::vector<StepPlan::MarkEnd>& ends = plan_.marks[slot];
    if (of.next >= ends.size() || ends[of.next].mark != of.seen++) return false;
    EnterPhase(ends[of.next++].phase);
    return true;
  }

  uint32_t step() const { return step_; }                            // the present one; as many are complete
  const std::vector<uint64_t>& numbers() const { return numbers_; }  // of complete steps; empty without marks
  const StepPlan& plan() const { return plan_; }
  // By step; empty where the plan has no phases.
  const std::vector<PhaseStart>& phase_starts() const { return starts_; }

 private:
  struct Marks {
    uint64_t seen = 0;
    size_t next = 0;
  };

  void EnterPhase(uint32_t phase) {
    ++step_;
    if (starts_.empty() || starts_.back().phase == phase) return;
    starts_.push_back({phase, step_});
  }

  StepPlan plan_;
  IndexedVector<ThreadSlot, Marks> marks_;
  size_t next_cut_ = 0;
  uint64_t next_time_;
  uint32_t step_ = 0;
  bool inside_ = false;
  std::vector<uint64_t> numbers_;
  std::vector<PhaseStart> starts_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_STEP_CLOCK_H_
