// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_FRAMEWORK_CHECK_H_
#define ANALYZER_FRAGMENTATION_FRAMEWORK_CHECK_H_

#include <cstdint>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// How often a framework told what it has given out and reserved, and how far the ledger was from that.
// Thread-compatible.
class FrameworkCheck final : public ReplayObserver {
 public:
  uint64_t checks() const { return checks_; }
  uint64_t mismatches() const { return mismatches_; }
  // The framework's figure less the ledger's, at the last check.
  int64_t given_out() const { return given_out_; }
  int64_t reserved() const { return reserved_; }

  unsigned frequent_calls() const override { return 0; }
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnOtherEvent(const StreamEvent& event) override {
    // The past has neither all blocks nor all segments.
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

#endif  // ANALYZER_FRAGMENTATION_FRAMEWORK_CHECK_H_
