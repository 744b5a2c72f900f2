// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/category_timeline.h"

namespace vramtrack {
namespace {

size_t BinsOf(const Ledger& ledger) {
  return ledger.scopes().empty() ? 0 : ledger.timeline().bins(ledger.scopes()[0].timeline_row).size();
}

}  // namespace

CategoryTimeline::CategoryTimeline(const Ledger& first, const std::vector<Category>& categories, uint64_t start_ticks)
    : places_(first.sites().size()),
      in_steps_(first.timeline_in_steps()),
      bin_width_(first.timeline().bin_width()),
      start_ticks_(start_ticks),
      bin_count_(BinsOf(first)),
      bin_end_(bin_width_) {
  for (const Scope& scope : first.scopes()) {
    const bool followed = (scope.is_leading() || scope.device == SiteKey::kHost) && rows_.size() < kNoRow;
    rows_of_scopes_.push_back(followed ? static_cast<uint16_t>(rows_.size()) : kNoRow);
    if (followed) rows_.emplace_back();
  }
  for (uint32_t i = 0; i < places_.size(); ++i) {
    const uint32_t scope = first.sites()[i].scope;
    if (scope != Site::kNoScope) places_[i] = {rows_of_scopes_[scope], categories[i]};
  }
}

void CategoryTimeline::FollowTime() {
  const uint64_t now = ledger_->last_ticks();
  const uint64_t position = now > start_ticks_ ? now - start_ticks_ : 0;
  if (position >= bin_end_) MoveTo(position);
}

void CategoryTimeline::MoveTo(uint64_t position) {
  bin_ = position / bin_width_;
  for (Row& row : rows_) {
    for (Series& series : row) {
      if (!series.bins.empty()) series.bins.resize(bin_ + 1, {series.live, series.live});
    }
  }
  bin_end_ = (bin_ + 1) * bin_width_;
}

uint64_t CategoryTimeline::Live(uint32_t scope, Category category) const {
  const uint16_t row = rows_of_scopes_[scope];
  return row == kNoRow ? 0 : rows_[row][static_cast<size_t>(category)].live;
}

std::vector<CategoryTimeline::Bin> CategoryTimeline::Bins(uint32_t scope, Category category) const {
  const uint16_t row = rows_of_scopes_[scope];
  if (row == kNoRow) return {};
  const Series& series = rows_[row][static_cast<size_t>(category)];
  std::vector<Bin> bins = series.bins;
  // After the last allocation or free nothing changes.
  if (!bins.empty()) bins.resize(bin_count_, {series.live, series.live});
  return bins;
}

}  // namespace vramtrack
