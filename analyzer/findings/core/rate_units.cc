// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/rate_units.h"

#include <algorithm>

namespace vramtrack {
namespace {

template <typename Rates>
void Scale(double factor, Rates* rates) {
  rates->rate_bytes_per_step *= factor;
  rates->rate_ci_low *= factor;
  rates->rate_ci_high *= factor;
  rates->rate_objects_per_step *= factor;
}

}  // namespace

void SetRateUnits(const ProcessAnalysis& analysis, std::vector<ReportSite>* sites) {
  const Trace& trace = analysis.trace();
  const double seconds = trace.clock().Seconds(std::max(analysis.ledger().last_ticks(), trace.end_ticks()));
  const double steps_per_second = seconds > 0 ? analysis.run().steps / seconds : 0;
  for (ReportSite& site : *sites) {
    const double whole = site.group ? site.group->rate_bytes_per_step : site.rate_bytes_per_step;
    site.rate_bytes_per_second = whole * steps_per_second;
    if (!analysis.plan().has_windows()) continue;
    const double windows_in_unit = kRateBytes / static_cast<double>(analysis.plan().window_bytes);
    site.rate_unit = RateUnit::kGiB;
    Scale(windows_in_unit, &site);
    if (site.group) Scale(windows_in_unit, &*site.group);
  }
}

}  // namespace vramtrack
