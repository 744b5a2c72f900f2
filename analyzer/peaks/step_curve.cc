// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/step_curve.h"

#include <algorithm>

namespace vramtrack {

// Makes rows twice as wide: two neighbours of the same step become one.
void StepCurve::MergePairs() {
  ++width_bits_;
  size_t kept = 0;
  for (const Row& row : rows_) {
    Row* last = kept == 0 ? nullptr : &rows_[kept - 1];
    if (last != nullptr && last->step == row.step && last->event >> width_bits_ == row.event >> width_bits_) {
      last->low = std::min(last->low, row.low);
      last->high = std::max(last->high, row.high);
    } else {
      rows_[kept++] = row;
    }
  }
  rows_.resize(kept);
}

void StepCurve::Follow(uint32_t step, uint64_t bytes) {
  if (step >= kMaxRows) {
    given_up_ = true;
    rows_ = {};
    events_ = {};
    return;
  }
  if (events_.size() <= step) events_.resize(step + 1);
  const uint64_t event = events_[step]++;
  // Each of fewer steps than that keeps a row.
  while (rows_.size() >= kMaxRows && BeginsRow(event)) MergePairs();
  if (BeginsRow(event)) rows_.push_back({step, event, live_, live_});
  live_ += bytes;
  Row& row = rows_.back();
  row.low = std::min(row.low, live_);
  row.high = std::max(row.high, live_);
}

std::vector<StepCurve::Row> StepCurve::Rows() const {
  const bool finer = std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.event > 0; });
  return finer ? rows_ : std::vector<Row>();
}

}  // namespace vramtrack
