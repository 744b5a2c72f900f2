// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/step_curve.h"

#include <algorithm>

#include "analyzer/peaks/timeline.h"

namespace vramtrack {
namespace {

// Makes rows twice as wide: two neighbours of the same step become one.
void MergePairs(int width_bits, std::vector<StepCurve::Row>* rows) {
  size_t kept = 0;
  for (const StepCurve::Row& row : *rows) {
    StepCurve::Row* last = kept == 0 ? nullptr : &(*rows)[kept - 1];
    if (last != nullptr && last->step == row.step && last->event >> width_bits == row.event >> width_bits) {
      last->low = std::min(last->low, row.low);
      last->high = std::max(last->high, row.high);
    } else {
      (*rows)[kept++] = row;
    }
  }
  rows->resize(kept);
}

}  // namespace

StepCurve::StepCurve(const Ledger& first, const LevelTimeline& timeline) : curve_of_site_(first.sites().size(), kNone) {
  for (const Scope& scope : first.scopes()) {
    const bool followed = timeline.in_steps() && IsOnTimeline(scope) && curves_.size() < kNone;
    curve_of_scope_.push_back(followed ? static_cast<uint16_t>(curves_.size()) : kNone);
    if (followed) curves_.emplace_back();
  }
  for (const SiteIndex site : curve_of_site_.indices()) {
    const uint32_t scope = first.sites()[site].scope;
    if (scope != Site::kNoScope) curve_of_site_[site] = curve_of_scope_[scope];
  }
}

void StepCurve::Add(uint64_t bytes, Curve* curve) {
  const uint32_t step = ledger_->steps().step();
  if (step >= kMaxRows) {
    curve->given_up = true;
    curve->rows = {};
    curve->events = {};
    return;
  }
  if (curve->events.size() <= step) curve->events.resize(step + 1);
  const uint64_t event = curve->events[step]++;
  const auto begins_row = [event, curve] { return (event & ((uint64_t{1} << curve->width_bits) - 1)) == 0; };
  if (begins_row()) {
    // Each of fewer steps than that keeps a row.
    while (curve->rows.size() >= kMaxRows && begins_row()) MergePairs(++curve->width_bits, &curve->rows);
    if (begins_row()) curve->rows.push_back({step, event, curve->live, curve->live});
  }
  curve->live += bytes;
  Row& row = curve->rows.back();
  row.low = std::min(row.low, curve->live);
  row.high = std::max(row.high, curve->live);
}

const StepCurve::Curve* StepCurve::CurveOf(uint32_t scope) const {
  if (curve_of_scope_[scope] == kNone) return nullptr;
  const Curve& curve = curves_[curve_of_scope_[scope]];
  const bool finer = std::any_of(curve.rows.begin(), curve.rows.end(), [](const Row& row) { return row.event > 0; });
  return finer ? &curve : nullptr;
}

const std::vector<StepCurve::Row>& StepCurve::Rows(uint32_t scope) const {
  static const auto* const none = new std::vector<Row>;
  const Curve* curve = CurveOf(scope);
  return curve == nullptr ? *none : curve->rows;
}

uint64_t StepCurve::EventsPerRow(uint32_t scope) const {
  const Curve* curve = CurveOf(scope);
  return curve == nullptr ? 0 : uint64_t{1} << curve->width_bits;
}

uint64_t StepCurve::EventsOf(uint32_t scope, uint32_t step) const { return CurveOf(scope)->events[step]; }

}  // namespace vramtrack
