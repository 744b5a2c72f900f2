// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/period.h"

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

}  // namespace vramtrack
