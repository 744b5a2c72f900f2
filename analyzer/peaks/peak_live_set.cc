// SPDX-License-Identifier: Apache-2.0
#include "analyzer/peaks/peak_live_set.h"

#include <algorithm>

namespace vramtrack {
namespace {

PeakLiveSet::Age AgeOf(uint32_t birth_step, uint32_t now) {
  if (birth_step == 0) return PeakLiveSet::kSetup;
  if (birth_step == now) return PeakLiveSet::kThisStep;
  return now - birth_step <= PeakLiveSet::kRecentSteps ? PeakLiveSet::kRecent : PeakLiveSet::kEarlier;
}

size_t SizeOf(uint64_t bytes) {
  return static_cast<size_t>(std::lower_bound(PeakLiveSet::kSizeLimits.begin(), PeakLiveSet::kSizeLimits.end(), bytes) -
                             PeakLiveSet::kSizeLimits.begin());
}

}  // namespace

void PeakLiveSet::Reached(const Scope& scope) {
  awaited_.erase(std::remove_if(awaited_.begin(), awaited_.end(),
                                [&scope](const auto& awaited) { return awaited.first == scope.device; }),
                 awaited_.end());
  Peak& peak = peaks_[scope.device];
  ledger_->ForEachLive([&](SiteIndex holder, uint32_t birth_step, uint64_t objects, uint64_t bytes) {
    if (objects == 0 || ledger_->sites()[holder].scope != scope.index) return;
    peak.ages[AgeOf(birth_step, ledger_->steps().step())].Add(objects, bytes);
    peak.sizes[SizeOf(bytes / objects)].Add(objects, bytes);
  });
}

}  // namespace vramtrack
