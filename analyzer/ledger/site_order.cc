// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/site_order.h"

namespace vramtrack {

void SiteOrder::BeginStep(Entry* entry, uint32_t step, bool keeps) {
  if (entry->first == 0) entry->first = last_event_;
  if (!keeps) {
    // Most sites free in a step what they allocate in it.
  } else if (entry->latest != kNone) {
    Latest& latest = latest_[entry->latest];
    latest.births[latest.next] = {entry->step, entry->last};
    latest.next = (latest.next + 1) % kStepsKept;
  } else if (++entry->steps > kFewSteps) {
    entry->latest = static_cast<uint32_t>(latest_.size());
    latest_.emplace_back();
  }
  entry->step = step;
}

SiteOrder::SiteBirths SiteOrder::BirthsOf(SiteIndex site) const {
  SiteBirths births;
  if (!sites_.Has(site)) return births;
  const Entry& entry = sites_[site];
  births.first = entry.first;
  births.last = entry.last;
  if (entry.latest == kNone) return births;
  const Latest& latest = latest_[entry.latest];
  births.latest = latest.births;
  births.latest[latest.next] = {entry.step, entry.last};
  return births;
}

}  // namespace vramtrack
