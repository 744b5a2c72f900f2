// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_STEP_VALUES_H_
#define ANALYZER_PEAKS_STEP_VALUES_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Collects the value of each step's mark, see vramtrack_step(). Thread-compatible.
class StepValues final : public ReplayObserver {
 public:
  // Returns the values by step; 0 for a step without one. Ends with the last step that has a value.
  const std::vector<double>& values() const { return values_; }

  unsigned frequent_calls() const override { return 0; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  // Only the mark that ends a step has the step's value.
  void OnStepEnd(uint32_t step) override {
    const StreamEvent* event = ledger_->present_event();
    if (event == nullptr || event->operation != schema::STEP) return;
    if (event->slot != ledger_->steps().plan().mark_slot) return;
    double value;
    std::memcpy(&value, &event->value[1], sizeof value);
    if (!std::isfinite(value) || value <= 0) return;
    values_.resize(step + size_t{1}, 0);
    values_[step] = value;
  }

 private:
  const Ledger* ledger_ = nullptr;
  std::vector<double> values_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_STEP_VALUES_H_
