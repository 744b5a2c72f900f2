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

namespace {

constexpr size_t kMinCommonSteps = 4;
// Of the steps in which either has survivors, at most one in this many may lack the other's.
constexpr size_t kStepsPerMiss = 20;
constexpr size_t kStepsToBeLate = 3;

struct Overlap {
  size_t common = 0, apart = 0;
};

// `late`: how many steps `b` comes after `a`.
Overlap OverlapOf(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span, int late) {
  Overlap overlap;
  const auto inside = [&](const Survivors& at, int shift) {
    const int64_t step = static_cast<int64_t>(at.step) - shift;
    return step >= span.begin && step < span.end;
  };
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && !inside(a[i], 0)) {
      ++i;
      continue;
    }
    if (j < b.size() && !inside(b[j], late)) {
      ++j;
      continue;
    }
    const int64_t left = i < a.size() ? a[i].step : INT64_MAX;
    const int64_t right = j < b.size() ? static_cast<int64_t>(b[j].step) - late : INT64_MAX;
    if (left == right) {
      ++overlap.common;
    } else {
      ++overlap.apart;
    }
    if (left <= right) ++i;
    if (right <= left) ++j;
  }
  return overlap;
}

}  // namespace

bool SameSteps(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span) {
  for (const int late : {0, 1, -1}) {
    StepSpan compared = span;
    if (late != 0) {
      // Among many steps with survivors a step more or less would make others of them.
      if (Within(a, span).size() * kStepsToBeLate > span.size()) return false;
      // What comes late in the last step is not seen.
      ++compared.begin;
      --compared.end;
    }
    const Overlap overlap = OverlapOf(a, b, compared, late);
    if (overlap.common >= kMinCommonSteps && overlap.apart * kStepsPerMiss <= overlap.common + overlap.apart)
      return true;
  }
  return false;
}

bool SameAmounts(const SurvivorSeries& a, const SurvivorSeries& b, StepSpan span) {
  const SurvivorSeries left = Within(a, span), right = Within(b, span);
  if (left.size() != right.size()) return false;
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i].objects != right[i].objects || left[i].bytes != right[i].bytes) return false;
  }
  return true;
}

SurvivorSeries SumOf(const SurvivorSeries& a, const SurvivorSeries& b) {
  SurvivorSeries sum;
  size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (j == b.size() || (i < a.size() && a[i].step < b[j].step)) {
      sum.push_back(a[i++]);
    } else if (i == a.size() || b[j].step < a[i].step) {
      sum.push_back(b[j++]);
    } else {
      sum.push_back({a[i].step, a[i].objects + b[j].objects, a[i].bytes + b[j].bytes});
      ++i;
      ++j;
    }
  }
  return sum;
}

}  // namespace vramtrack
