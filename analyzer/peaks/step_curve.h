// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_STEP_CURVE_H_
#define ANALYZER_PEAKS_STEP_CURVE_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/timeline.h"

namespace vramtrack {

// The live bytes within each step, for runs with few steps: a timeline has one bin for each step, this has several.
// Follows a second replay. Memory is bounded by kMaxRows. Thread-compatible.
class StepCurve final : public ReplayObserver {
 public:
  static constexpr size_t kMaxRows = 4000;  // for each scope

  // Consecutive allocations and frees of one step.
  struct Row {
    uint32_t step = 0;
    uint64_t event = 0;  // number of the first one within the step
    uint64_t low = 0, high = 0;
  };

  // `first`: the trace's first replay; `timeline`: its timeline. Follows only the scopes of a report's timeline, and
  // only if the timeline is over steps.
  StepCurve(const Ledger& first, const LevelTimeline& timeline);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Change(allocated.allocation.site, allocated.allocation.bytes);
  }
  void OnFree(const ReplayAllocation& freed) override { Change(freed.allocation.site, 0 - freed.allocation.bytes); }
  void OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t bytes, bool born) override {
    Change(site, born ? bytes : 0 - bytes);
  }

  // Returns the rows in order; empty for a scope that is not followed, or if no step would have more than one row.
  const std::vector<Row>& Rows(uint32_t scope) const;
  // Returns the largest number of allocations and frees that a row stands for.
  uint64_t EventsPerRow(uint32_t scope) const;
  // Returns the number of allocations and frees of a step that has rows.
  uint64_t EventsOf(uint32_t scope, uint32_t step) const;

 private:
  static constexpr uint16_t kNone = UINT16_MAX;

  struct Curve {
    std::vector<Row> rows;
    std::vector<uint64_t> events;  // number of events by step
    uint64_t live = 0;
    int width_bits = 0;     // a row stands for 1 << width_bits events
    bool given_up = false;  // there are too many steps
  };

  // `bytes` is added to the sum; for a free it is 0 - bytes.
  void Change(SiteIndex site, uint64_t bytes) {
    const uint16_t number = curve_of_site_[site];
    if (number == kNone || curves_[number].given_up) return;
    Add(bytes, &curves_[number]);
  }
  void Add(uint64_t bytes, Curve* curve);
  const Curve* CurveOf(uint32_t scope) const;

  const Ledger* ledger_ = nullptr;
  IndexedVector<SiteIndex, uint16_t> curve_of_site_;
  std::vector<uint16_t> curve_of_scope_;
  std::vector<Curve> curves_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_STEP_CURVE_H_
