// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/survivors.h"

namespace vramtrack {

SurvivorSeries SurvivorsIn(const SiteHistory& history, StepSpan span) {
  SurvivorSeries series;
  for (const Cohort& cohort : history.cohorts) {
    if (cohort.live_objects == 0 || cohort.step < span.begin || cohort.step >= span.end) continue;
    series.push_back({cohort.step, cohort.live_objects, cohort.live_bytes});
  }
  return series;
}

SurvivorSeries Within(const SurvivorSeries& series, StepSpan span) {
  SurvivorSeries within;
  for (const Survivors& at : series) {
    if (at.step >= span.begin && at.step < span.end) within.push_back(at);
  }
  return within;
}

SurvivorTotal TotalOf(const SurvivorSeries& series) {
  SurvivorTotal total;
  for (const Survivors& at : series) {
    total.objects += at.objects;
    total.bytes += at.bytes;
    ++total.steps;
  }
  return total;
}

std::vector<SurvivorTotal> WindowTotals(const SurvivorSeries& series, StepSpan span, uint32_t windows) {
  std::vector<SurvivorTotal> totals(windows);
  if (span.size() == 0) return totals;
  for (const Survivors& at : series) {
    if (at.step < span.begin || at.step >= span.end) continue;
    const uint64_t window = (static_cast<uint64_t>(at.step - span.begin) * windows) / span.size();
    totals[window].objects += at.objects;
    totals[window].bytes += at.bytes;
    ++totals[window].steps;
  }
  return totals;
}

}  // namespace vramtrack
