// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/timeline.h"

namespace vramtrack {

size_t Timeline::AddRow() {
  Row row;
  row.bins.resize(bin_ + 1, Bin{{}, {}});
  rows_.push_back(std::move(row));
  return rows_.size() - 1;
}

void Timeline::MoveTo(uint64_t position) {
  while (position / bin_width_ >= max_bins_) MergePairs();
  bin_ = position / bin_width_;
  for (Row& row : rows_) row.bins.resize(bin_ + 1, Bin{row.values, row.values});
  bin_end_ = (bin_ + 1) * bin_width_;
}

void Timeline::MergePairs() {
  bin_width_ *= 2;
  bin_ /= 2;
  for (Row& row : rows_) {
    for (size_t i = 0; i < row.bins.size(); ++i) {
      if (i % 2 == 0) {
        row.bins[i / 2] = row.bins[i];
        continue;
      }
      Bin& to = row.bins[i / 2];
      for (size_t k = 0; k < kValues; ++k) {
        to.low[k] = std::min(to.low[k], row.bins[i].low[k]);
        to.high[k] = std::max(to.high[k], row.bins[i].high[k]);
      }
    }
    row.bins.resize(bin_ + 1);
  }
}

}  // namespace vramtrack
