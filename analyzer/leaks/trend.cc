// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/trend.h"

#include <algorithm>
#include <cmath>

namespace vramtrack {
namespace {

// Halves that differ this much are a deceleration if either trend at least hints at it. The ratio alone would not do:
// ten random survivors of a constant rate show such halves in one run of five.
constexpr double kDeceleratingRatio = 0.6;
constexpr double kHintOfTrend = 1.3;
// Two-sided 5 % of the standard normal distribution.
constexpr double kSignificantTrend = 1.96;
// One-sided 5 %: with warm-up in it the series can only be steeper than a leak's, never flatter than a cache's.
constexpr double kSignificantRunTrend = 1.645;
// A significant trend that changes the rate by less than a tenth does not change the answer.
constexpr double kTrendThatMatters = 0.9;
constexpr double kAcceleratingRatio = 1.1;
// The same number of objects, but larger and larger ones.
constexpr double kGrowingObjectsRatio = 1.5;

constexpr double kVeryLarge = 1e9;

// For bursts: as many windows as tell their variance, each long enough to have births.
constexpr uint32_t kMostBurstWindows = 12, kFewestBurstWindows = 6, kStepsOfBurstWindow = 8;

// From this share on, nearly every step has survivors: which steps have any says no more.
constexpr double kSaturated = 0.9;

// How far births lean to either end of the span, in standard deviations of what the same steps in any other order would
// do: the correlation of the numbers in the steps with time. Numbers that hardly vary lean little by chance, so that
// what ever more steps find in a cache already shows long before it is rare.
double Lean(const SurvivorSeries& series, StepSpan span, bool by_steps) {
  const double steps = span.size();
  if (steps < 3) return 0;
  const double middle = (static_cast<double>(span.begin) + span.end - 1) / 2;
  double sum = 0, squares = 0, with_time = 0;
  for (const Survivors& at : series) {
    if (at.step < span.begin || at.step >= span.end) continue;
    const double number = by_steps ? 1 : at.objects;
    sum += number;
    squares += number * number;
    with_time += number * (at.step - middle);
  }
  const double variance = squares - sum * sum / steps;
  if (variance <= 0) return 0;
  const double time_variance = steps * (steps * steps - 1) / 12;
  return with_time / std::sqrt(variance * time_variance) * std::sqrt(steps - 1);
}

double Ratio(double late, double early) {
  if (early <= 0) return late > 0 ? kVeryLarge : 1;
  return std::min(late / early, kVeryLarge);
}

}  // namespace

double LaplaceTrend(const SurvivorSeries& series, StepSpan span, bool by_steps) {
  double births = 0, sum = 0;
  for (const Survivors& at : series) {
    if (at.step < span.begin || at.step >= span.end) continue;
    const double weight = by_steps ? 1 : at.objects;
    births += weight;
    sum += weight * (at.step + 0.5);
  }
  if (births == 0) return 0;
  const double middle = (static_cast<double>(span.begin) + span.end) / 2;
  return (sum / births - middle) / (span.size() * std::sqrt(1.0 / (12 * births)));
}

double TrendOfRun(const SurvivorSeries& series, StepSpan span) {
  const auto steps = std::count_if(series.begin(), series.end(),
                                   [span](const Survivors& at) { return at.step >= span.begin && at.step < span.end; });
  return Lean(series, span, /*by_steps=*/static_cast<double>(steps) < kSaturated * span.size());
}

double Overdispersion(const SurvivorSeries& series, StepSpan span) {
  const uint32_t windows = std::min<uint32_t>(kMostBurstWindows, span.size() / kStepsOfBurstWindow);
  if (windows < kFewestBurstWindows) return 1;
  std::vector<double> births(windows, 0);
  for (const Survivors& at : series) {
    if (at.step < span.begin || at.step >= span.end) continue;
    ++births[static_cast<uint64_t>(at.step - span.begin) * windows / span.size()];
  }
  const double n = windows, middle = (n - 1) / 2;
  double sum = 0, squares = 0, with_time = 0;
  for (uint32_t i = 0; i < windows; ++i) {
    sum += births[i];
    squares += births[i] * births[i];
    with_time += births[i] * (i - middle);
  }
  const double mean = sum / n, of_trend = with_time * with_time / (n * (n * n - 1) / 12);
  const double found = std::max(0.0, squares - sum * mean - of_trend) / (n - 2);
  const double independent = mean * (1 - mean / (span.size() / n));
  return independent > 0 ? std::max(1.0, found / independent) : 1;
}

HalvesRatio LateToEarly(const std::vector<SurvivorTotal>& windows) {
  const size_t half = windows.size() / 2;
  SurvivorTotal early, late;
  for (size_t i = 0; i < half; ++i) {
    early.bytes += windows[i].bytes;
    early.objects += windows[i].objects;
    late.bytes += windows[windows.size() - 1 - i].bytes;
    late.objects += windows[windows.size() - 1 - i].objects;
  }
  const double objects = Ratio(static_cast<double>(late.objects), static_cast<double>(early.objects));
  if (late.bytes == 0 && early.bytes == 0) return {objects, objects};
  return {Ratio(static_cast<double>(late.bytes), static_cast<double>(early.bytes)), objects};
}

double WindowTrend(const std::vector<SurvivorTotal>& windows) {
  const double n = static_cast<double>(windows.size());
  double s = 0;
  for (size_t i = 0; i < windows.size(); ++i) {
    for (size_t j = i + 1; j < windows.size(); ++j) {
      s += windows[j].bytes > windows[i].bytes;
      s -= windows[j].bytes < windows[i].bytes;
    }
  }
  if (s == 0) return 0;
  return (s > 0 ? s - 1 : s + 1) / std::sqrt(n * (n - 1) * (2 * n + 5) / 18);
}

TrendEvidence JudgeTrend(const SurvivorSeries& series, StepSpan span, const std::vector<SurvivorTotal>& windows,
                         const SurvivorSeries& run_series, StepSpan run_span) {
  TrendEvidence evidence;
  evidence.late_to_early = LateToEarly(windows);
  evidence.laplace = LaplaceTrend(series, span, /*by_steps=*/false);
  evidence.window_bytes = WindowTrend(windows);
  evidence.lean_of_run = TrendOfRun(run_series, run_span);
  // A cache fills so fast in the beginning that a straight line does not describe it.
  evidence.overdispersion = Overdispersion(run_series, {run_span.begin + run_span.size() / 3, run_span.end});
  const HalvesRatio& ratio = evidence.late_to_early;
  const bool hint = std::min(evidence.laplace, evidence.lean_of_run) < -kHintOfTrend;
  if (std::max(ratio.bytes, ratio.objects) < kDeceleratingRatio && hint) {
    evidence.trend = Trend::kDecelerating;
  } else if (evidence.laplace < -kSignificantTrend && ratio.bytes < kTrendThatMatters) {
    evidence.trend = Trend::kDecelerating;
  } else if (evidence.lean_of_run < -kSignificantRunTrend && ratio.bytes < kTrendThatMatters) {
    evidence.trend = Trend::kDecelerating;
  } else if (evidence.laplace > kSignificantTrend * std::sqrt(evidence.overdispersion) &&
             ratio.bytes > kAcceleratingRatio) {
    evidence.trend = Trend::kAccelerating;
  } else if (evidence.window_bytes > kSignificantTrend && ratio.bytes > kGrowingObjectsRatio) {
    evidence.trend = Trend::kAccelerating;
  }
  return evidence;
}

}  // namespace vramtrack
