// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_STEP_CLOCK_H_
#define ANALYZER_LEDGER_STEP_CLOCK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

// Where the steps of a run end, as decided before its replay: at the marks of one thread, or before each allocation of
// one site.
struct StepPlan {
  static constexpr uint32_t kNone = UINT32_MAX;

  std::string source = "none";  // as in the report
  uint32_t mark_slot = kNone;   // the thread whose STEP events count
  uint32_t anchor_site = kNone;

  bool has_steps() const { return mark_slot != kNone || anchor_site != kNone; }
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
  std::vector<uint64_t> numbers_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_STEP_CLOCK_H_
