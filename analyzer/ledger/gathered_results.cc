// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/gathered_results.h"

#include <algorithm>

namespace vramtrack {
namespace {

// Allocators round the sizes of single blocks up; of small ones that may be much, and proves nothing then.
constexpr uint64_t kMostRounding = 512, kMostPartRounded = 8;

}  // namespace

bool GatheredResults::Has(SiteIndex site) const {
  const auto found = gathered_.find(site);
  return found != gathered_.end() && !found->second.again &&
         found->second.allocations == ledger_->sites()[site].allocations;
}

void GatheredResults::Look(const ReplayAllocation& allocated) {
  const Sites& sites = ledger_->sites();
  looks_ += sites.size();
  if (looks_ > kMostLooks) return;
  const uint64_t bytes = allocated.allocation.bytes;
  for (const SiteIndex i : sites.indices()) {
    const Site& site = sites[i];
    if (site.live_bytes < bytes || site.live_objects < kFewestObjects) continue;
    if (i == allocated.allocation.site || site.scope != allocated.site.scope) continue;
    const uint64_t rounding = std::min(kMostRounding * site.live_objects, bytes / kMostPartRounded);
    if (site.live_bytes - bytes > rounding) continue;
    Gathering& gathering = gathered_[i];
    gathering.again |= gathering.allocations != 0 && gathering.allocations != site.allocations;
    gathering.allocations = site.allocations;
  }
}

}  // namespace vramtrack
