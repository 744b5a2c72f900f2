// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/timeline.h"

#include <algorithm>

namespace vramtrack {
namespace {

// Ticks that the first bins of a timeline without steps cover.
uint64_t BinTicks(const Trace& trace) {
  uint64_t last = std::max(trace.end_ticks(), trace.counter(schema::COUNTER_CLOCK_TICKS));
  for (const ThreadBlocks& thread : trace.threads()) {
    if (!thread.blocks.empty()) last = std::max(last, thread.blocks.back().first_time);
  }
  const uint64_t start = trace.clock().start_ticks();
  return last > start ? (last - start) / LevelTimeline::kMaxBins + 1 : 1;
}

}  // namespace

void LevelTimeline::MoveTo(uint64_t position) {
  while (position / bin_width_ >= kMaxBins) MergePairs();
  bin_ = position / bin_width_;
  for (Row& row : rows_) row.bins.resize(bin_ + 1, Bin{row.values, row.values});
  bin_end_ = (bin_ + 1) * bin_width_;
}

void LevelTimeline::MergePairs() {
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

void LevelTimeline::OnBegin(const Ledger& ledger) {
  ledger_ = &ledger;
  const StepPlan& plan = ledger.steps().plan();
  in_steps_ = plan.has_steps() && !plan.has_windows();
  start_ticks_ = trace_.clock().start_ticks();
  rows_.clear();
  bin_ = 0;
  bin_width_ = bin_end_ = in_steps_ ? 1 : BinTicks(trace_);
}

void LevelTimeline::OnEnd() {
  AddRows(std::max(rows_.size(), ledger_->scopes().size()));
  if (PositionOf(*ledger_) >= bin_end_) MoveTo(PositionOf(*ledger_));
}

}  // namespace vramtrack
