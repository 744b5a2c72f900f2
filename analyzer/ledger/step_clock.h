// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_STEP_CLOCK_H_
#define ANALYZER_LEDGER_STEP_CLOCK_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/steps/regular_gaps.h"

namespace vramtrack {

// A part of a run in which all steps are of one kind. Phases are decided before the replay.
struct PlannedPhase {
  enum class Kind { kSteps, kWindows, kUnjudged };

  Kind kind = Kind::kSteps;
  StepSource source = StepSource::kNone;
  std::string name;     // name of the range that is a step, with "#" for numbers; empty if it has none
  double coverage = 0;  // share of the run that its steps or windows cover; meaningful if a plan has phases
  double share = 1;     // share of the run that the phase contains
};

// The rule by which the steps of a run end. It is decided before the replay, and is one of these or nothing:
//   mark_slot     every STEP event of one thread ends a step
//   anchor_site   a step ends before each allocation of one site
//   at_inside     a step ends where an optimizer begins to allocate
//   marks, cuts   single MARK and STEP events, and instants, end a step
struct StepPlan {
  // A mark that ends a step, by its number among the MARK and STEP events of its thread, and the phase of the next
  // step.
  struct MarkEnd {
    uint64_t mark = 0;
    uint32_t phase = 0;
  };
  // An instant. The first event at or after it begins a step.
  struct Cut {
    uint64_t time = 0;  // ticks
    uint32_t phase = 0;
  };

  StepSource source = StepSource::kNone;  // of the phase that covers most
  ThreadSlot mark_slot;  // the thread whose STEP events count; with picked marks, the one that gives the values
  SiteIndex anchor_site;
  IndexedVector<StackIndex, bool> inside;                 // stacks within an optimizer's step; empty if not needed
  bool at_inside = false;                                 // the first allocation within an optimizer's step ends a step
  IndexedVector<ThreadSlot, std::vector<MarkEnd>> marks;  // ascending
  std::vector<Cut> cuts;                                  // ascending

  std::vector<PlannedPhase> phases;  // by time; empty if all steps are of one kind
  bool windows = false;              // no steps were found; windows of the run replace them
  bool rough = false;                // so few windows that nothing can be decided from them
  uint64_t window_bytes = 0;         // with windows: average bytes of short-lived allocations in one window
  double coverage = 1;               // share of the run that steps cover
  double judged = 1;                 // share of the run that steps or windows cover
  std::string name;                  // name of the range that is a step; empty if it has none
  std::string runner_up;             // the next best candidate for a step; empty if there is none
  uint64_t runner_up_count = 0;

  std::vector<OuterLoop> outer;  // loops around the steps

  bool picks() const { return !marks.empty() || !cuts.empty(); }
  bool has_steps() const { return !mark_slot.is_none() || !anchor_site.is_none() || at_inside || picks(); }
  bool has_windows() const { return windows; }
};

// Numbers the steps during a replay. Steps are dense indices; numbers() has the job's own numbers. Thread-compatible.
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

  // Must be called before an allocation is counted. Returns true if a step ends before it.
  bool OnAllocation(SiteIndex site) {
    if (__builtin_expect(site != plan_.anchor_site, 1)) return false;
    ++step_;
    return true;
  }
  // Must be called before an allocation is counted if the plan's at_inside is set. Returns true if a step ends before
  // it.
  bool OnAllocationBy(StackIndex stack) {
    const bool inside = plan_.inside.Has(stack) && plan_.inside[stack];
    const bool entered = inside && !inside_;
    inside_ = inside;
    if (!entered) return false;
    ++step_;
    return true;
  }
  // Returns the time of the next cut, in ticks; UINT64_MAX if there is none.
  uint64_t next_time() const { return next_time_; }
  // Ends a step. Must be called before an event at next_time() or later is counted, as often as that holds.
  void PassTime() {
    const StepPlan::Cut& cut = plan_.cuts[next_cut_++];
    next_time_ = next_cut_ < plan_.cuts.size() ? plan_.cuts[next_cut_].time : UINT64_MAX;
    EnterPhase(cut.phase);
  }
  // Must be called for each MARK and STEP event. Returns true if a step ends with it. `number`: the number of a STEP.
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

  // Goes on by a plan that was made when more of the run was known. Returns false, and changes nothing, if steps that
  // have ended would have ended elsewhere. `last`: the latest event, in ticks.
  bool Continue(StepPlan plan, uint64_t last);

  // Returns the index of the present step, which is the number of complete steps.
  uint32_t step() const { return step_; }
  // Returns the job's own numbers of the complete steps; empty unless every STEP event of a thread ends one.
  const std::vector<uint64_t>& numbers() const { return numbers_; }
  const StepPlan& plan() const { return plan_; }
  // Returns the starts of phases by step; empty if the plan has no phases.
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
