// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/level_curves.h"

#include <algorithm>

#include "analyzer/ledger/kind.h"

namespace vramtrack {

LevelCurves::LevelCurves(uint64_t first_ticks, uint64_t last_ticks, size_t most_points)
    : first_(first_ticks), last_(std::max(last_ticks, first_ticks)) {
  constexpr size_t kPointsOfSpan = 3;
  const size_t spans = std::max<size_t>(most_points / kPointsOfSpan, 1);
  span_ticks_ = (last_ - first_) / spans + 1;
}

const char* LevelCurves::Name(Figure figure) {
  constexpr const char* kNames[] = {"live", "reserved", "driver"};
  return kNames[figure];
}

void LevelCurves::Look(SiteIndex index) {
  const uint32_t scope_index = ledger_->sites()[index].scope;
  if (scope_index == Site::kNoScope) return;
  const Scope& scope = ledger_->scopes()[scope_index];
  Note({scope.device, scope.level == Level::kFramework ? kLive : kDriver}, scope.live);
  // With its first block memory of the driver becomes a segment.
  if (scope.segments != nullptr) Note({scope.device, kSegments}, scope.segments->counted());
}

void LevelCurves::Note(const Key& key, uint64_t bytes) {
  const uint64_t ticks = ledger_->last_ticks();
  Curve& curve = curves_[key];
  const Point now = {ticks, bytes};
  // What it is when the time of interest begins is its first point.
  const uint64_t span = ticks <= first_ ? 0 : (std::min(ticks, last_) - first_) / span_ticks_;
  if (ticks > last_) return;
  if (ticks < first_) {
    curve.points.assign(1, {first_, bytes});
    return;
  }
  if (span != curve.span) {
    Close(&curve);
    curve.span = span;
    curve.low = curve.high = now;
  }
  if (bytes < curve.low.bytes) curve.low = now;
  if (bytes > curve.high.bytes) curve.high = now;
  curve.last = now;
}

void LevelCurves::Close(Curve* curve) {
  if (curve->span == UINT64_MAX) return;
  Point points[] = {curve->low, curve->high, curve->last};
  std::stable_sort(std::begin(points), std::end(points),
                   [](const Point& a, const Point& b) { return a.ticks < b.ticks; });
  for (const Point& point : points) {
    if (curve->points.empty() || curve->points.back().bytes != point.bytes) curve->points.push_back(point);
  }
}

std::map<LevelCurves::Key, std::vector<LevelCurves::Point>> LevelCurves::Finish() {
  std::map<Key, std::vector<Point>> curves;
  for (auto& [key, curve] : curves_) {
    Close(&curve);
    curves[key] = std::move(curve.points);
  }
  return curves;
}

}  // namespace vramtrack
