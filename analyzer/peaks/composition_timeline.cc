// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/composition_timeline.h"

#include <algorithm>
#include <utility>

namespace vramtrack {
CompositionTimeline::CompositionTimeline(const Ledger& first, const IndexedVector<SiteIndex, Category>& categories,
                                         size_t count,
                                         const std::map<uint32_t, std::vector<std::vector<SiteIndex>>>& groups,
                                         const LevelTimeline& levels)
    : places_(first.sites().size()), levels_(levels), bin_end_(levels.bin_width()) {
  for (const Scope& scope : first.scopes()) {
    Row& row = rows_.emplace_back();
    row.followed = IsOnTimeline(scope) && scope.index < kNoRow;
    if (!row.followed) continue;
    row.now.categories.resize(count);
    row.extents.resize(count);
    row.run.bins = {row.now};
    if (first.steps().plan().has_steps() && scope.peak > 0) row.peak_step = scope.peak_moment.step;
  }
  for (const SiteIndex site : places_.indices()) {
    const uint32_t scope = first.sites()[site].scope;
    if (scope == Site::kNoScope || !rows_[scope].followed) continue;
    places_[site] = {static_cast<uint16_t>(scope), categories[site], kNoGroup};
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
  if (const uint64_t position = levels_.PositionOf(*ledger_); position >= bin_end_) MoveTo(position);
  Row& row = rows_[place.row];
  if (!born) {
    row.run.EndRise(row.now);
    row.step.EndRise(row.now);
  }
  const uint32_t step = ledger_->steps().step();
  if (levels_.in_steps()) row.curve.Add(step, bytes);
  const bool in_peak_step = step == row.peak_step;
  if (in_peak_step && row.step_events++ % row.step_width == 0) BeginStepBin(&row);
  row.now.live += bytes;
  ChangeCategory(static_cast<size_t>(place.category), bytes, &row);
  if (place.group != kNoGroup) row.now.groups[place.group] += bytes;
  row.run.Raise(row.now);
  if (in_peak_step) row.step.Raise(row.now);
}

inline void CompositionTimeline::ChangeCategory(size_t category, uint64_t bytes, Row* row) {
  std::vector<Extent>& extents = row->extents[category];
  if (__builtin_expect(extents.empty(), 0)) extents.resize(bin_ + 1);
  const uint64_t live = row->now.categories[category] += bytes;
  Extent& extent = extents.back();
  extent.low = std::min(extent.low, live);
  extent.high = std::max(extent.high, live);
}

void CompositionTimeline::BeginStepBin(Row* row) {
  std::vector<Bin>& bins = row->step.bins;
  row->step.EndRise(row->now);
  if (bins.size() == kMaxStepBins) {
    // Neighbours become one bin, with what the higher of them has.
    for (size_t i = 0; i < bins.size(); i += 2) {
      bins[i / 2] = bins[bins[i + 1].live > bins[i].live ? i + 1 : i];
      row->step_begins[i / 2] = row->step_begins[i];
      row->step_ticks[i / 2] = row->step_ticks[i];
    }
    bins.resize(kMaxStepBins / 2);
    row->step_begins.resize(kMaxStepBins / 2);
    row->step_ticks.resize(kMaxStepBins / 2);
    row->step_width *= 2;
  }
  bins.push_back(row->now);
  row->step_begins.push_back(row->step_events - 1);
  row->step_ticks.push_back(ledger_->last_ticks());
}

void CompositionTimeline::OnStepEnd(uint32_t /*step*/) {
  for (Row& row : rows_) row.step.EndRise(row.now);
}

void CompositionTimeline::MoveTo(uint64_t position) {
  bin_ = position / levels_.bin_width();
  bin_end_ = (bin_ + 1) * levels_.bin_width();
  for (Row& row : rows_) {
    if (!row.followed) continue;
    row.run.EndRise(row.now);
    row.run.bins.resize(bin_ + 1, row.now);
    for (size_t i = 0; i < row.extents.size(); ++i) {
      const uint64_t live = row.now.categories[i];
      if (!row.extents[i].empty()) row.extents[i].resize(bin_ + 1, {live, live});
    }
  }
}

std::vector<CompositionTimeline::Bin> CompositionTimeline::Bins(uint32_t scope) const {
  if (!rows_[scope].followed) return {};
  HighBins run = rows_[scope].run;
  run.EndRise(rows_[scope].now);
  // After the last allocation or free nothing changes.
  run.bins.resize(levels_.size(), rows_[scope].now);
  return std::move(run.bins);
}

std::vector<CompositionTimeline::Extent> CompositionTimeline::Extents(uint32_t scope, Category category) const {
  if (!rows_[scope].followed) return {};
  std::vector<Extent> extents = rows_[scope].extents[static_cast<size_t>(category)];
  const uint64_t live = Live(scope, category);
  if (!extents.empty()) extents.resize(levels_.size(), {live, live});
  return extents;
}

uint64_t CompositionTimeline::Live(uint32_t scope, Category category) const {
  return rows_[scope].followed ? rows_[scope].now.categories[static_cast<size_t>(category)] : 0;
}

CompositionTimeline::StepBins CompositionTimeline::BinsOfPeakStep(uint32_t scope) const {
  const Row& row = rows_[scope];
  HighBins step = row.step;
  step.EndRise(row.now);
  return {row.step_begins, row.step_ticks, std::move(step.bins)};
}

const StepCurve* CompositionTimeline::CurveOf(uint32_t scope) const {
  return levels_.in_steps() && rows_[scope].followed ? &rows_[scope].curve : nullptr;
}

}  // namespace vramtrack
