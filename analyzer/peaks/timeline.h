// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PEAKS_TIMELINE_H_
#define ANALYZER_PEAKS_TIMELINE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// The lowest and the highest values of several series over a growing axis, in a bounded number of bins: when all are
// used, neighbours are merged. Positions do not decrease. Thread-compatible.
class Timeline {
 public:
  static constexpr size_t kMaxBins = 4000;
  static constexpr size_t kValues = 3;
  using Values = std::array<uint64_t, kValues>;

  struct Bin {
    Values low, high;
  };

  // `bin_width`: the initial width of a bin, in units of positions.
  explicit Timeline(uint64_t bin_width, size_t max_bins = kMaxBins)
      : bin_width_(std::max<uint64_t>(bin_width, 1)), max_bins_(max_bins) {}

  // Adds a row whose values are 0 so far; returns its index.
  size_t AddRow();
  size_t rows() const { return rows_.size(); }

  // Returns the position at which the current bin ends.
  uint64_t bin_end() const { return bin_end_; }
  // Moves to the bin of `position`. Call it when a position reaches bin_end().
  void MoveTo(uint64_t position);

  // Records the current values. They are passed one by one, as values that are stored singly and loaded together would
  // stall the processor.
  void Record(size_t row, uint64_t first, uint64_t second, uint64_t third) {
    Row& r = rows_[row];
    Bin& bin = r.bins.back();
    Extend(0, first, &r, &bin);
    Extend(1, second, &r, &bin);
    Extend(2, third, &r, &bin);
  }

  uint64_t bin_width() const { return bin_width_; }
  const std::vector<Bin>& bins(size_t row) const { return rows_[row].bins; }

 private:
  struct Row {
    Values values{};
    std::vector<Bin> bins;  // all rows have the same number of bins
  };

  static void Extend(size_t i, uint64_t value, Row* row, Bin* bin) {
    row->values[i] = value;
    if (value < bin->low[i]) bin->low[i] = value;
    if (value > bin->high[i]) bin->high[i] = value;
  }
  void MergePairs();

  uint64_t bin_width_;
  size_t max_bins_;
  size_t bin_ = 0;  // index of the current bin
  uint64_t bin_end_ = bin_width_;
  std::vector<Row> rows_;
};

// The figures of a report during a replay, for each of the ledger's scopes. A row has the figures of LevelsOf(), in
// that order. The axis is steps, or ticks since the trace's start if there are no steps. Thread-compatible.
class LevelTimeline final : public ReplayObserver {
 public:
  // `trace` must outlive it.
  explicit LevelTimeline(const Trace& trace) : trace_(trace) {}

  bool in_steps() const { return in_steps_; }
  uint64_t bin_width() const { return timeline_.bin_width(); }
  uint64_t start_ticks() const { return start_ticks_; }
  // Returns the bins of a scope. A device with a framework has its figures at the framework's level only.
  const std::vector<Timeline::Bin>& bins(const Scope& scope) const { return timeline_.bins(scope.index); }
  // Returns the number of bins of each scope.
  size_t size() const { return timeline_.rows() == 0 ? 0 : timeline_.bins(0).size(); }

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
  void Record(const Scope& scope) {
    const uint64_t position = Position();
    if (__builtin_expect(position >= timeline_.bin_end(), 0)) timeline_.MoveTo(position);
    const bool of_framework = scope.segments != nullptr && scope.level != Level::kFramework;
    const uint32_t row = of_framework ? scope.other_level : scope.index;
    if (__builtin_expect(row >= timeline_.rows(), 0)) AddRows(row + size_t{1});
    const Ledger::Levels levels = ledger_->LevelsOf(scope);
    timeline_.Record(row, levels.device_used, levels.reserved, levels.live);
  }
  uint64_t Position() const {
    if (in_steps_) return ledger_->steps().step();
    const uint64_t now = ledger_->last_ticks();
    return now > start_ticks_ ? now - start_ticks_ : 0;
  }
  void AddRows(size_t count);

  const Trace& trace_;
  const Ledger* ledger_ = nullptr;
  bool in_steps_ = false;
  uint64_t start_ticks_ = 0;
  Timeline timeline_{1};
};

// Returns whether a report's timeline shows the scope.
inline bool IsOnTimeline(const Scope& scope) { return scope.is_leading() || scope.device == kHost; }

// Finds the bins of the first replay's timeline in a second replay. Thread-compatible.
class TimelineBins {
 public:
  // `first`: the timeline of the first replay, which is complete.
  explicit TimelineBins(const LevelTimeline& first)
      : in_steps_(first.in_steps()),
        width_(first.bin_width()),
        start_ticks_(first.start_ticks()),
        count_(first.size()),
        end_(width_) {}

  size_t present() const { return present_; }
  size_t count() const { return count_; }  // number of bins of the first replay

  // Returns true if a new bin begins. Call it before each change; call FollowStepEnd at the end of each step.
  bool FollowTime(const Ledger& ledger) {
    if (in_steps_) return false;
    const uint64_t now = ledger.last_ticks();
    return MoveTo(now > start_ticks_ ? now - start_ticks_ : 0);
  }
  bool FollowStepEnd(uint32_t step) { return in_steps_ && MoveTo(uint64_t{step} + 1); }

 private:
  bool MoveTo(uint64_t position) {
    if (position < end_) return false;
    present_ = position / width_;
    end_ = (present_ + 1) * width_;
    return true;
  }

  const bool in_steps_;
  const uint64_t width_, start_ticks_;
  const size_t count_;
  size_t present_ = 0;
  uint64_t end_;
};

}  // namespace vramtrack

#endif  // ANALYZER_PEAKS_TIMELINE_H_
