// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_STEP_CLOCK_H_
#define ANALYZER_LEDGER_STEP_CLOCK_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

// Where the steps of a run end, as decided before its replay.
struct StepPlan {
  std::string source = "none";       // as in the report
  double confidence = 0;             // 0 to 1
  bool marks = false;                // STEP events count
  std::vector<uint64_t> end_events;  // otherwise: a step ends before each of these events (numbers in the stream)
};

// Numbers the steps while events go by. Steps are dense indices; what the job calls them is in numbers(). Several
// threads may mark the same steps (one for each device): a mark counts if it comes from the thread of the last one that
// counted, or if its number goes further. Thread-compatible.
class StepClock {
 public:
  explicit StepClock(StepPlan plan) : plan_(std::move(plan)) {
    if (!plan_.marks && !plan_.end_events.empty()) next_end_ = plan_.end_events[0];
  }

  // To be called for each event of the stream. True if a step ends before it.
  bool OnEvent() {
    if (__builtin_expect(event_++ != next_end_, 1)) return false;
    return EndPlanned();
  }
  // To be called for a STEP event. True if a step ends with it.
  bool OnMark(uint32_t slot, uint64_t number);

  uint32_t step() const { return step_; }                            // the present one; as many are complete
  const std::vector<uint64_t>& numbers() const { return numbers_; }  // of complete steps; empty without marks
  const StepPlan& plan() const { return plan_; }

 private:
  bool EndPlanned();

  StepPlan plan_;
  uint64_t event_ = 0, next_end_ = UINT64_MAX;
  uint32_t step_ = 0, slot_ = 0;
  std::vector<uint64_t> numbers_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_STEP_CLOCK_H_
