// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_TIMELINE_H_
#define ANALYZER_PEAKS_TIMELINE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// The lowest and the highest figures of a report during a replay, for each of the ledger's scopes, in a bounded number
// of bins: when all are used, neighbours are merged. The figures are those of LevelsOf(), in that order. The axis is
// steps, or ticks since the trace's start if there are no steps. Thread-compatible.
class LevelTimeline final : public ReplayObserver {
 public:
  static constexpr size_t kMaxBins = 4000;
  static constexpr size_t kValues = 3;
  using Values = std::array<uint64_t, kValues>;
  struct Bin {
    Values low, high;
  };

  // `trace` must outlive it.
  explicit LevelTimeline(const Trace& trace) : trace_(trace) {}

  bool in_steps() const { return in_steps_; }
  // Returns the width of a bin, in steps or ticks.
  uint64_t bin_width() const { return bin_width_; }
  uint64_t start_ticks() const { return start_ticks_; }
  // Returns the bins of a scope. A device with a framework has its figures at the framework's level only.
  const std::vector<Bin>& bins(const Scope& scope) const { return rows_[scope.index].bins; }
  // Returns the number of bins of each scope.
  size_t size() const { return rows_.empty() ? 0 : bin_ + 1; }
  // Returns the present position of a replay of this trace, from 0.
  uint64_t PositionOf(const Ledger& ledger) const {
    if (in_steps_) return ledger.steps().step();
    const uint64_t now = ledger.last_ticks();
    return now > start_ticks_ ? now - start_ticks_ : 0;
  }

  unsigned frequent_calls() const override { return kAll; }
  void OnBegin(const Ledger& ledger) override;
  void OnAllocate(const ReplayAllocation& allocated) override {
    if (allocated.scope != nullptr) Record(*allocated.scope);
  }
  void OnFree(const ReplayAllocation& freed) override {
    if (freed.scope != nullptr) Record(*freed.scope);
  }
  void OnEnd() override;

 private:
  struct Row {
    Values values{};
    std::vector<Bin> bins;  // all rows have the same number of bins
  };

  void Record(const Scope& scope) {
    const uint64_t position = PositionOf(*ledger_);
    if (__builtin_expect(position >= bin_end_, 0)) MoveTo(position);
    const bool of_framework = scope.segments != nullptr && scope.level != Level::kFramework;
    const uint32_t index = of_framework ? scope.other_level : scope.index;
    if (__builtin_expect(index >= rows_.size(), 0)) AddRows(index + size_t{1});
    const Ledger::Levels levels = ledger_->LevelsOf(scope);
    Row& row = rows_[index];
    Bin& bin = row.bins.back();
    // One by one, as values that are stored singly and loaded together would stall the processor.
    Extend(0, levels.device_used, &row, &bin);
    Extend(1, levels.reserved, &row, &bin);
    Extend(2, levels.live, &row, &bin);
  }
  static void Extend(size_t i, uint64_t value, Row* row, Bin* bin) {
    row->values[i] = value;
    if (value < bin->low[i]) bin->low[i] = value;
    if (value > bin->high[i]) bin->high[i] = value;
  }
  void AddRows(size_t count) { rows_.resize(count, {{}, std::vector<Bin>(bin_ + 1, Bin{{}, {}})}); }
  void MoveTo(uint64_t position);
  void MergePairs();

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  bool in_steps_ = false;
  uint64_t start_ticks_ = 0;
  uint64_t bin_width_ = 1, bin_end_ = 1;
  size_t bin_ = 0;  // index of the current bin
  std::vector<Row> rows_;
};

// Returns whether a report's timeline shows the scope.
inline bool IsOnTimeline(const Scope& scope) { return scope.is_total(); }

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_TIMELINE_H_
