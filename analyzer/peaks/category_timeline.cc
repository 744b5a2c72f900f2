// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/category_timeline.h"

namespace vramtrack {

CategoryTimeline::CategoryTimeline(const Ledger& first, const IndexedVector<SiteIndex, Category>& categories,
                                   const LevelTimeline& timeline)
    : places_(first.sites().size()), bins_(timeline) {
  for (const Scope& scope : first.scopes()) {
    const bool followed = IsOnTimeline(scope) && rows_.size() < kNoRow;
    rows_of_scopes_.push_back(followed ? static_cast<uint16_t>(rows_.size()) : kNoRow);
    if (followed) rows_.emplace_back();
  }
  for (const SiteIndex site : places_.indices()) {
    const uint32_t scope = first.sites()[site].scope;
    if (scope != Site::kNoScope) places_[site] = {rows_of_scopes_[scope], categories[site]};
  }
}

void CategoryTimeline::BeginBin() {
  for (Row& row : rows_) {
    for (Series& series : row) {
      if (!series.bins.empty()) series.bins.resize(bins_.present() + 1, {series.live, series.live});
    }
  }
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
  if (!bins.empty()) bins.resize(bins_.count(), {series.live, series.live});
  return bins;
}

}  // namespace vramtrack
