// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_SITE_COUNTS_H_
#define ANALYZER_EXPORT_SITE_COUNTS_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

// What a site allocated, and what of it is in use at the moment that is exported. Of the driver's memory that holds
// segments of a framework's allocator, the segments are counted apart.
struct SiteCounts {
  uint64_t alloc_objects = 0, alloc_bytes = 0;
  uint64_t inuse_objects = 0, inuse_bytes = 0;
  uint64_t inuse_segment_bytes = 0;  // part of inuse_bytes
};

// Counts during a second replay. Memory is bounded by sites. Thread-compatible.
class SiteCounter final : public ReplayObserver {
 public:
  // `steps`: indices of the first and the last step of which allocations count; none: all.
  explicit SiteCounter(std::optional<std::pair<uint32_t, uint32_t>> steps) : steps_(std::move(steps)) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Count(allocated.allocation.site, 1, allocated.allocation.bytes);
  }
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override {
    if (born) Count(site, objects, bytes);
  }

  // What is in use now, on the device as MomentWatch names it.
  void TakeInUse(DeviceIndex device);

  // After the replay.
  IndexedVector<SiteIndex, SiteCounts> Finish();

 private:
  void Count(SiteIndex site, uint64_t objects, uint64_t bytes);

  const Ledger* ledger_ = nullptr;
  std::optional<std::pair<uint32_t, uint32_t>> steps_;
  IndexedVector<SiteIndex, SiteCounts> counts_;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SITE_COUNTS_H_
