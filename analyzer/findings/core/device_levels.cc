// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/device_levels.h"

namespace vramtrack {

LevelSeries LevelsOf(const Ledger& ledger, const Scope& scope, DeviceFigure figure) {
  LevelSeries series;
  const uint64_t width = ledger.timeline().bin_width();
  series.steps_per_point = static_cast<double>(width);
  const auto value = static_cast<size_t>(figure);
  const std::vector<Timeline::Bin>& bins = ledger.timeline().bins(scope.timeline_row);
  for (size_t i = 0; i < bins.size() && (i + 1) * width <= ledger.steps().step(); ++i) {
    series.low.push_back(static_cast<double>(bins[i].low[value]));
    series.high.push_back(static_cast<double>(bins[i].high[value]));
  }
  return series;
}

}  // namespace vramtrack
