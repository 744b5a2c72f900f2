// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/step_clock.h"

namespace vramtrack {

bool StepClock::EndPlanned() {
  ++step_;
  next_end_ = step_ < plan_.end_events.size() ? plan_.end_events[step_] : UINT64_MAX;
  return true;
}

bool StepClock::OnMark(uint32_t slot, uint64_t number) {
  if (!plan_.marks) return false;
  if (!numbers_.empty() && slot != slot_ && number <= numbers_.back()) return false;
  slot_ = slot;
  numbers_.push_back(number);
  ++step_;
  return true;
}

}  // namespace vramtrack
