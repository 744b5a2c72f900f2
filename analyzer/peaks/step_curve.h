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

// How live bytes rise and fall within the steps of a run that has not too many of them: a timeline has one bin a step,
// this has some in each. Follows a second replay. Memory is bounded by kMaxRows. Thread-compatible.
class StepCurve final : public ReplayObserver {
 public:
  static constexpr size_t kMaxRows = 4000;  // of a scope

  // Some allocations and frees of one step, one after the other.
  struct Row {
    uint32_t step = 0;
    uint64_t event = 0;  // the first of them, counted from the step's first one
    uint64_t low = 0, high = 0;
  };

  // `first`: the trace's first replay, and its timeline. Only scopes that a report's timeline is about are followed,
  // and only where steps are what it is over.
  StepCurve(const Ledger& first, const LevelTimeline& timeline);

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Change(allocated.allocation.site, allocated.allocation.bytes);
  }
  void OnFree(const ReplayAllocation& freed) override { Change(freed.allocation.site, 0 - freed.allocation.bytes); }
  void OnFold(SiteIndex site, uint64_t /*objects*/, uint64_t bytes, bool born) override {
    Change(site, born ? bytes : 0 - bytes);
  }

  // In order; empty for a scope that is not followed, or when no step would have more than one row.
  const std::vector<Row>& Rows(uint32_t scope) const;
  // How many allocations and frees a row stands for, at most.
  uint64_t EventsPerRow(uint32_t scope) const;
  // How many a step has that has rows.
  uint64_t EventsOf(uint32_t scope, uint32_t step) const;

 private:
  static constexpr uint16_t kNone = UINT16_MAX;

  struct Curve {
    std::vector<Row> rows;
    std::vector<uint64_t> events;  // by step
    uint64_t live = 0, width = 1;
    bool given_up = false;  // there are too many steps
  };

  // Of a free, `bytes` is what brings the sum down: 0 - bytes.
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
