// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/rate.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace vramtrack {
namespace {

constexpr size_t kMaxBirthsInPeriod = 512;

// Whether the series moved by `shift` births (and `period` steps) is the series again.
bool Repeats(const SurvivorSeries& series, StepSpan span, size_t shift, Step period, bool with_bytes) {
  for (size_t i = 0; i + shift < series.size(); ++i) {
    const Survivors& here = series[i];
    const Survivors& there = series[i + shift];
    if (there.step - here.step != period || there.objects != here.objects) return false;
    if (with_bytes && there.bytes != here.bytes) return false;
  }
  // The pattern goes on to both ends: nothing is missing where it should have repeated.
  const bool missing_at_end = series[series.size() - shift].step + static_cast<uint64_t>(period) < span.end;
  const bool missing_at_begin = series[shift - 1].step >= static_cast<uint64_t>(span.begin) + period;
  return !missing_at_end && !missing_at_begin;
}

}  // namespace

Period FindPeriod(const SurvivorSeries& series, StepSpan span) {
  for (size_t shift = 1; shift <= kMaxBirthsInPeriod && 3 * shift <= series.size(); ++shift) {
    const Step period = series[shift].step - series[0].step;
    if (static_cast<uint64_t>(period) * 3 > static_cast<uint64_t>(span.size()) + period) break;
    if (!Repeats(series, span, shift, period, /*with_bytes=*/false)) continue;
    // Bytes may repeat at a multiple of the objects' period only; that one is preferred where there is one.
    for (size_t times = 1; times * shift <= kMaxBirthsInPeriod && 3 * times * shift <= series.size(); ++times) {
      const Step multiple = series[times * shift].step - series[0].step;
      if (Repeats(series, span, times * shift, multiple, /*with_bytes=*/true)) return {multiple, true};
    }
    return {period, false};
  }
  return {};
}

namespace {

struct Mean {
  double bytes = 0, objects = 0;
};

Mean MeanOver(const SurvivorSeries& series, StepSpan span) {
  const SurvivorTotal total = TotalOf(Within(series, span));
  const double steps = span.size();
  return {static_cast<double>(total.bytes) / steps, static_cast<double>(total.objects) / steps};
}

std::vector<double> BytesByStep(const SurvivorSeries& series, StepSpan span) {
  std::vector<double> bytes(span.size(), 0);
  for (const Survivors& at : series) {
    if (at.step >= span.begin && at.step < span.end) bytes[at.step - span.begin] = static_cast<double>(at.bytes);
  }
  return bytes;
}

// The number of neighbours that may depend on each other: a lifetime, and otherwise the usual cube root.
uint32_t BlockSteps(StepSpan span, uint32_t max_lifetime_steps) {
  const uint32_t cube_root = static_cast<uint32_t>(std::lround(std::cbrt(span.size())));
  return std::clamp<uint32_t>(std::max(max_lifetime_steps + 1, cube_root), 1, std::max<uint32_t>(1, span.size() / 4));
}

}  // namespace

Rate EstimateRate(const SurvivorSeries& series, StepSpan span, bool onset_seen, uint32_t max_lifetime_steps) {
  Rate rate;
  if (span.size() == 0) return rate;
  const SurvivorSeries within = Within(series, span);
  rate.period = FindPeriod(within, span);
  const Step period = std::max<Step>(1, rate.period.steps);
  if (rate.period.steps > 0) {
    span.begin = span.end - span.size() / period * period;
  } else if (onset_seen && span.size() > 1) {
    ++span.begin;
  }
  const Mean mean = MeanOver(within, rate.period.bytes_repeat ? StepSpan{span.end - period, span.end} : span);
  rate.bytes_per_step = mean.bytes;
  rate.objects_per_step = mean.objects;
  rate.bytes_interval = {mean.bytes, mean.bytes};
  if (rate.period.bytes_repeat) return rate;
  const uint32_t periods = (BlockSteps(span, max_lifetime_steps) + period - 1) / period;
  rate.bytes_interval = BootstrapMean(BytesByStep(within, span), periods * period);
  return rate;
}

namespace {

constexpr double kMinMaterialBytes = 1 << 20;
constexpr double kMaterialDeviceShare = 1e-4;
constexpr double kMaterialObjects = 1000;

}  // namespace

bool IsMaterial(const Rate& rate, uint64_t horizon_steps, uint64_t device_bytes) {
  const auto steps = static_cast<double>(horizon_steps);
  if (rate.bytes_per_step <= 0) return rate.objects_per_step * steps >= kMaterialObjects;
  const double least = std::max(kMinMaterialBytes, kMaterialDeviceShare * static_cast<double>(device_bytes));
  return rate.bytes_per_step * steps >= least;
}

}  // namespace vramtrack
