// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_FRAMEWORK_CHECK_H_
#define ANALYZER_PEAKS_FRAMEWORK_CHECK_H_

#include <cstdint>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// Counts how often a framework reported its allocated and reserved bytes, and compares these figures with the
// ledger's. Thread-compatible.
class FrameworkCheck final : public ReplayObserver {
 public:
  uint64_t checks() const { return checks_; }
  uint64_t mismatches() const { return mismatches_; }
  // Return the framework's figure less the ledger's at the last check, in bytes.
  int64_t given_out() const { return given_out_; }
  int64_t reserved() const { return reserved_; }

  unsigned frequent_calls() const override { return 0; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnOtherEvent(const StreamEvent& event) override {
    // Recorded past events have neither all blocks nor all segments.
    if (event.operation != schema::FRAMEWORK_MEMORY || event.past) return;
    for (const Scope& scope : ledger_->scopes()) {
      if (scope.level != Level::kFramework || scope.device != DeviceIndex(event.shape->device)) continue;
      ++checks_;
      given_out_ = static_cast<int64_t>(event.value[0] - scope.live);
      reserved_ = static_cast<int64_t>(event.value[1] - ledger_->LevelsOf(scope).reserved);
      mismatches_ += given_out_ != 0 || reserved_ != 0;
    }
  }

 private:
  const Ledger* ledger_ = nullptr;
  uint64_t checks_ = 0, mismatches_ = 0;
  int64_t given_out_ = 0, reserved_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_FRAMEWORK_CHECK_H_
