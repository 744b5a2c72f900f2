// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/bursts.h"

#include <algorithm>

namespace vramtrack {
namespace {

// A burst takes what this many steps at least have put there.
constexpr double kStepsInBurst = 3;
// A lifetime bin counts if it holds this share of the objects that outlived their step: ages in a burst are spread.
constexpr double kSharedBin = 0.1;
constexpr double kPausedShare = 0.8;

bool AgesAreSpread(const LifetimeHistogram& lifetimes) {
  uint64_t outlived = 0;
  for (size_t bin = 1; bin < lifetimes.size(); ++bin) outlived += lifetimes[bin];
  int bins = 0;
  for (size_t bin = 1; bin < lifetimes.size(); ++bin) {
    if (static_cast<double>(lifetimes[bin]) >= kSharedBin * static_cast<double>(outlived) && lifetimes[bin] > 0) ++bins;
  }
  return bins >= 2;
}

bool GapsAreEqual(const std::vector<Deaths>& deaths) {
  for (size_t i = 2; i < deaths.size(); ++i) {
    if (deaths[i].step - deaths[i - 1].step != deaths[1].step - deaths[0].step) return false;
  }
  return deaths.size() >= 3;
}

}  // namespace

Bursts FindBursts(const SiteHistory& history) {
  Bursts bursts;
  const std::vector<Deaths>& deaths = history.deaths;
  if (deaths.size() < 2 || history.death_bin_steps > 1) return bursts;
  double objects = 0, bytes = 0;
  for (const Deaths& at : deaths) {
    objects += at.objects;
    bytes += static_cast<double>(at.bytes);
  }
  bursts.count = static_cast<uint32_t>(deaths.size());
  bursts.mean_objects = objects / bursts.count;
  bursts.mean_bytes = bytes / bursts.count;
  bursts.mean_gap_steps = (deaths.back().step - deaths.front().step) / (bursts.count - 1.0);
  if (history.birth_steps < kStepsInBurst * bursts.count || bursts.mean_objects < kStepsInBurst) return bursts;
  if (!AgesAreSpread(history.completed_lifetimes)) return bursts;
  const double active_steps = history.last_birth - history.first_birth + 1.0;
  const bool pauses = history.birth_steps < kPausedShare * active_steps;
  bursts.pattern = pauses || GapsAreEqual(deaths) ? DeathPattern::kPhases : DeathPattern::kCollector;
  return bursts;
}

Step AgeWhenAllWereFreed(const SiteHistory& history, Step first_survivor) {
  const std::vector<Deaths>& deaths = history.deaths;
  if (history.death_bin_steps > 1) return 0;
  const Step age = std::max(history.max_completed_lifetime_steps, history.max_setup_lifetime_steps);
  uint32_t in_burst = 0, afterwards = 0;
  for (const Deaths& at : deaths) {
    // Births and deaths of a step have no order: the survivor may have been allocated in the step of the burst.
    if (at.step > first_survivor + 1) {
      afterwards = std::max(afterwards, at.objects);
    } else if (at.step + 1 >= first_survivor) {
      in_burst = std::max(in_burst, at.objects);
    }
  }
  const bool is_burst = age >= kStepsInBurst && in_burst >= kStepsInBurst && 2 * in_burst >= age;
  return is_burst && in_burst >= kStepsInBurst * afterwards ? age : 0;
}

}  // namespace vramtrack
