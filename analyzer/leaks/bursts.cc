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

bool AgesAreSpread(const std::vector<uint64_t>& lifetimes) {
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

}  // namespace vramtrack
