// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/site_counts.h"

#include "analyzer/export/moment_watch.h"

namespace vramtrack {

void SiteCounter::Count(SiteIndex site, uint64_t objects, uint64_t bytes) {
  const uint32_t step = ledger_->steps().step();
  if (steps_ && (step < steps_->first || step > steps_->second)) return;
  if (!counts_.Has(site)) counts_.resize(ledger_->sites().size());
  counts_[site].alloc_objects += objects;
  counts_[site].alloc_bytes += bytes;
}

void SiteCounter::TakeInUse(DeviceIndex device) {
  const Sites& sites = ledger_->sites();
  counts_.resize(sites.size());
  for (const SiteIndex i : sites.indices()) {
    if (device != MomentWatch::kAll && sites[i].key.device != device) continue;
    counts_[i].inuse_objects = sites[i].live_objects;
    counts_[i].inuse_bytes = sites[i].live_bytes;
    counts_[i].inuse_segment_bytes = sites[i].segment_bytes;
  }
}

IndexedVector<SiteIndex, SiteCounts> SiteCounter::Finish() {
  counts_.resize(ledger_->sites().size());
  return std::move(counts_);
}

}  // namespace vramtrack
