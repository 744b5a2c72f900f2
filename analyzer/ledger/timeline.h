// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_LEDGER_TIMELINE_H_
#define ANALYZER_LEDGER_TIMELINE_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

// The lowest and the highest of several values over a growing axis, in a bounded number of bins: when they are full,
// neighbours are merged. Positions do not decrease. Thread-compatible.
class Timeline {
 public:
  static constexpr size_t kMaxBins = 4000;
  static constexpr size_t kValues = 3;
  using Values = std::array<uint64_t, kValues>;

  struct Bin {
    Values low, high;
  };

  // `bin_width`: what a bin covers at first, in units of positions.
  explicit Timeline(uint64_t bin_width, size_t max_bins = kMaxBins)
      : bin_width_(std::max<uint64_t>(bin_width, 1)), max_bins_(max_bins) {}

  // Adds a row, zero so far; returns its index.
  size_t AddRow();

  // Where the bin of the present position ends.
  uint64_t bin_end() const { return bin_end_; }
  // To be called when a position reaches bin_end().
  void MoveTo(uint64_t position);

  // One by one: values that are stored singly and loaded together would stall the processor.
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
    std::vector<Bin> bins;  // all rows have as many
  };

  static void Extend(size_t i, uint64_t value, Row* row, Bin* bin) {
    row->values[i] = value;
    if (value < bin->low[i]) bin->low[i] = value;
    if (value > bin->high[i]) bin->high[i] = value;
  }
  void MergePairs();

  uint64_t bin_width_;
  size_t max_bins_;
  size_t bin_ = 0;  // the present one
  uint64_t bin_end_ = bin_width_;
  std::vector<Row> rows_;
};

}  // namespace vramtrack

#endif  // ANALYZER_LEDGER_TIMELINE_H_
