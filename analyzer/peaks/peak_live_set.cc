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

void PeakLiveSet::LookAt(SiteIndex site) {
  const uint32_t index = ledger_->sites()[site].scope;
  if (index == Site::kNoScope) return;
  const Scope& scope = ledger_->scopes()[index];
  const auto awaited = awaited_.find(scope.device);
  // The change has been counted already.
  if (awaited == awaited_.end() || !scope.is_leading() || scope.changes != awaited->second + 1) return;
  awaited_.erase(awaited);
  Peak& peak = peaks_[scope.device];
  ledger_->ForEachLive([&](SiteIndex holder, uint32_t birth_step, uint64_t objects, uint64_t bytes) {
    if (objects == 0 || ledger_->sites()[holder].scope != index) return;
    peak.ages[AgeOf(birth_step, ledger_->steps().step())].Add(objects, bytes);
    peak.sizes[SizeOf(bytes / objects)].Add(objects, bytes);
  });
}

}  // namespace vramtrack
