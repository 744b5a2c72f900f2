// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_STEP_CLOCK_H_
#define ANALYZER_LEDGER_STEP_CLOCK_H_

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/steps/regular_gaps.h"

namespace vramtrack {

// A MARK event, but for its time and number.
struct StepMark {
  uint32_t slot, kind, stack, name;  // stack: distinct

  bool operator==(const StepMark& other) const {
    return slot == other.slot && kind == other.kind && stack == other.stack && name == other.name;
  }
};

// Where the steps of a run end, as decided before its replay: at the STEP marks of one thread, at some MARK events,
// where an optimizer begins to allocate, before each allocation of one site, or, where there are no steps, each time so
// much has been allocated.
struct StepPlan {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::string source = "none";  // as in the report
  uint32_t mark_slot = kNone;   // the thread whose STEP events count
  uint32_t anchor_site = kNone;
  std::vector<StepMark> marks;
  std::vector<bool> inside;      // by distinct stack: within an optimizer's step; empty if that does not matter
  bool only_after_work = false;  // a mark counts only if something was allocated elsewhere since the one before
  bool at_inside = false;        // the first allocation within an optimizer's step ends a step
  uint64_t window_bytes = 0;     // not 0: windows of so many bytes, allocated by `work`, stand for steps
  std::vector<bool> work;        // by site

  std::vector<OuterLoop> outer;  // loops around the steps

  bool has_steps() const {
    return mark_slot != kNone || anchor_site != kNone || !marks.empty() || at_inside || has_windows();
  }
  bool has_windows() const { return window_bytes != 0; }
  bool tells_inside() const { return only_after_work || at_inside; }
};

// Numbers the steps while events go by. Steps are dense indices; what the job calls them is in numbers().
// Thread-compatible.
class StepClock {
 public:
  explicit StepClock(StepPlan plan) : plan_(std::move(plan)) {}

  // To be called before an allocation counts. True if a step ends before it.
  bool OnAllocation(uint32_t site) {
    if (__builtin_expect(site != plan_.anchor_site, 1)) return false;
    ++step_;
    return true;
  }
  // To be called before an allocation counts if the plan tells_inside(). True if a step ends before it.
  bool OnAllocationBy(uint32_t stack) {
    const bool inside = stack < plan_.inside.size() && plan_.inside[stack];
    const bool entered = inside && !inside_;
    inside_ = inside;
    worked_ |= !inside;
    if (!entered || !plan_.at_inside) return false;
    ++step_;
    return true;
  }
  // To be called before an allocation counts if the plan has windows. True if one ends before it.
  bool OnWork(uint32_t site, uint64_t bytes) {
    if (site >= plan_.work.size() || !plan_.work[site]) return false;
    allocated_ += std::min(bytes, plan_.window_bytes);
    if (allocated_ < plan_.window_bytes) return false;
    allocated_ -= plan_.window_bytes;
    ++step_;
    return true;
  }
  // To be called for a MARK event. True if a step ends with it.
  bool OnMark(const StepMark& mark) {
    if (std::find(plan_.marks.begin(), plan_.marks.end(), mark) == plan_.marks.end()) return false;
    if (plan_.only_after_work && !worked_) return false;
    worked_ = false;
    ++step_;
    return true;
  }
  // To be called for a STEP event. True if a step ends with it.
  bool OnMark(uint32_t slot, uint64_t number) {
    if (slot != plan_.mark_slot) return false;
    numbers_.push_back(number);
    ++step_;
    return true;
  }

  uint32_t step() const { return step_; }                            // the present one; as many are complete
  const std::vector<uint64_t>& numbers() const { return numbers_; }  // of complete steps; empty without marks
  const StepPlan& plan() const { return plan_; }

 private:
  StepPlan plan_;
  uint32_t step_ = 0;
  bool inside_ = false, worked_ = true;
  uint64_t allocated_ = 0;  // in the present window
  std::vector<uint64_t> numbers_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_STEP_CLOCK_H_
