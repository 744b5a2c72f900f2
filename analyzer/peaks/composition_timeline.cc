// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/composition_timeline.h"

#include <algorithm>

namespace vramtrack {
namespace {

// Neighbours become one bin, with what the higher of them has.
void MergePairs(std::vector<CompositionTimeline::StepBin>* bins) {
  for (size_t i = 0; i < bins->size(); i += 2) {
    CompositionTimeline::StepBin merged = (*bins)[i];
    if (i + 1 < bins->size() && (*bins)[i + 1].bin.live > merged.bin.live) merged.bin = (*bins)[i + 1].bin;
    (*bins)[i / 2] = merged;
  }
  bins->resize((bins->size() + 1) / 2);
}

}  // namespace

CompositionTimeline::CompositionTimeline(const Ledger& first, const IndexedVector<SiteIndex, Category>& categories,
                                         size_t count,
                                         const std::map<uint32_t, std::vector<std::vector<SiteIndex>>>& groups,
                                         const LevelTimeline& timeline)
    : places_(first.sites().size()), in_steps_(timeline.in_steps()), bins_(timeline) {
  for (const Scope& scope : first.scopes()) {
    const bool followed = IsOnTimeline(scope) && rows_.size() < kNoRow;
    rows_of_scopes_.push_back(followed ? static_cast<uint16_t>(rows_.size()) : kNoRow);
    if (!followed) continue;
    Row& row = rows_.emplace_back();
    row.now.categories.resize(count);
    row.extents.resize(count);
    row.bins = {row.now};
    if (first.steps().plan().has_steps() && scope.peak > 0) rows_.back().peak_step = scope.peak_moment.step;
  }
  for (const SiteIndex site : places_.indices()) {
    const uint32_t scope = first.sites()[site].scope;
    if (scope != Site::kNoScope) places_[site] = {rows_of_scopes_[scope], categories[site], kNoGroup};
  }
  for (const auto& [scope, of_scope] : groups) {
    for (size_t group = 0; group < of_scope.size() && group < kMaxGroups; ++group) {
      for (const SiteIndex site : of_scope[group]) places_[site].group = static_cast<uint8_t>(group);
    }
  }
}

void CompositionTimeline::Change(SiteIndex site, uint64_t bytes, bool born) {
  const Place place = places_[site];
  if (place.row == kNoRow) return;
  if (bins_.FollowTime(*ledger_)) BeginBin();
  Row& row = rows_[place.row];
  // Only what brings the sum down ends a rise: what it consisted of is copied once for many allocations.
  if (!born && row.rising) {
    row.bins.back() = row.now;
    row.rising = false;
  }
  if (!born && row.step_rising) {
    row.step.back().bin = row.now;
    row.step_rising = false;
  }
  const uint32_t step = ledger_->steps().step();
  if (in_steps_) row.curve.Add(step, bytes);
  const bool in_peak_step = step == row.peak_step;
  if (in_peak_step && row.step_events++ % row.step_width == 0) BeginStepBin(&row);
  row.now.live += bytes;
  ChangeCategory(static_cast<size_t>(place.category), bytes, &row);
  if (place.group != kNoGroup) row.now.groups[place.group] += bytes;
  if (row.now.live > row.bins.back().live) {
    row.bins.back().live = row.now.live;
    row.rising = true;
  }
  if (in_peak_step && row.now.live > row.step.back().bin.live) {
    row.step.back().bin.live = row.now.live;
    row.step_rising = true;
  }
}

inline void CompositionTimeline::ChangeCategory(size_t category, uint64_t bytes, Row* row) {
  std::vector<Extent>& extents = row->extents[category];
  if (__builtin_expect(extents.empty(), 0)) extents.resize(bins_.present() + 1);
  const uint64_t live = row->now.categories[category] += bytes;
  Extent& extent = extents.back();
  extent.low = std::min(extent.low, live);
  extent.high = std::max(extent.high, live);
}

void CompositionTimeline::BeginStepBin(Row* row) {
  if (row->step_rising) row->step.back().bin = row->now;
  row->step_rising = false;
  if (row->step.size() == kMaxStepBins) {
    MergePairs(&row->step);
    row->step_width *= 2;
  }
  row->step.push_back({row->step_events - 1, ledger_->last_ticks(), row->now});
}

void CompositionTimeline::OnStepEnd(uint32_t step) {
  for (Row& row : rows_) {
    if (row.step_rising) row.step.back().bin = row.now;
    row.step_rising = false;
  }
  if (bins_.FollowStepEnd(step)) BeginBin();
}

void CompositionTimeline::BeginBin() {
  for (Row& row : rows_) {
    if (row.rising) row.bins.back() = row.now;
    row.rising = false;
    row.bins.resize(bins_.present() + 1, row.now);
    for (size_t i = 0; i < row.extents.size(); ++i) {
      const uint64_t live = row.now.categories[i];
      if (!row.extents[i].empty()) row.extents[i].resize(bins_.present() + 1, {live, live});
    }
  }
}

std::vector<CompositionTimeline::Bin> CompositionTimeline::Bins(uint32_t scope) const {
  if (rows_of_scopes_[scope] == kNoRow) return {};
  const Row& row = rows_[rows_of_scopes_[scope]];
  std::vector<Bin> bins = row.bins;
  if (row.rising) bins.back() = row.now;
  // After the last allocation or free nothing changes.
  bins.resize(bins_.count(), row.now);
  return bins;
}

std::vector<CompositionTimeline::Extent> CompositionTimeline::Extents(uint32_t scope, Category category) const {
  if (rows_of_scopes_[scope] == kNoRow) return {};
  const Row& row = rows_[rows_of_scopes_[scope]];
  std::vector<Extent> extents = row.extents[static_cast<size_t>(category)];
  const uint64_t live = row.now.categories[static_cast<size_t>(category)];
  if (!extents.empty()) extents.resize(bins_.count(), {live, live});
  return extents;
}

uint64_t CompositionTimeline::Live(uint32_t scope, Category category) const {
  const uint16_t row = rows_of_scopes_[scope];
  return row == kNoRow ? 0 : rows_[row].now.categories[static_cast<size_t>(category)];
}

std::vector<CompositionTimeline::StepBin> CompositionTimeline::StepBins(uint32_t scope) const {
  if (rows_of_scopes_[scope] == kNoRow) return {};
  const Row& row = rows_[rows_of_scopes_[scope]];
  std::vector<StepBin> bins = row.step;
  if (row.step_rising) bins.back().bin = row.now;
  return bins;
}

const StepCurve* CompositionTimeline::CurveOf(uint32_t scope) const {
  const uint16_t row = rows_of_scopes_[scope];
  return in_steps_ && row != kNoRow ? &rows_[row].curve : nullptr;
}

}  // namespace vramtrack
