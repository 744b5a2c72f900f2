// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/onset.h"

#include <cmath>

namespace vramtrack {
namespace {

// At most this share of the later frequency may come before an onset; otherwise it is an acceleration, or a chance gap.
constexpr double kQuietShare = 0.1;
// Log-likelihood gain for a split, beyond the logarithm of the number of places where it might lie.
constexpr double kClearGain = 4;

double LogLikelihood(double births, double steps) { return births > 0 ? births * std::log(births / steps) : 0; }

}  // namespace

Onset FindOnset(const SurvivorSeries& series, StepSpan tested) {
  Onset onset{tested, false};
  if (series.empty()) return onset;
  const double births = static_cast<double>(series.size());
  const double steps = tested.size();
  const double unsplit = LogLikelihood(births, steps);
  double best_gain = 0;
  // A likelihood of a Poisson process peaks just before a birth, so only births need to be tried.
  for (size_t before = 0; before < series.size(); ++before) {
    const double quiet_steps = series[before].step - tested.begin;
    const double busy_steps = tested.end - series[before].step;
    if (quiet_steps == 0) continue;
    const double quiet = before / quiet_steps;
    const double busy = (births - before) / busy_steps;
    if (quiet > kQuietShare * busy) continue;
    const double gain =
        LogLikelihood(static_cast<double>(before), quiet_steps) + LogLikelihood(births - before, busy_steps) - unsplit;
    if (gain > best_gain && gain > kClearGain + std::log(births)) {
      best_gain = gain;
      onset.span.begin = series[before].step;
      onset.within_tested = true;
    }
  }
  return onset;
}

}  // namespace vramtrack
