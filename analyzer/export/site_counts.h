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

// What a site allocated, and how much of it is in use at the exported moment. Driver memory that holds segments of a
// framework's allocator is also counted separately.
struct SiteCounts {
  uint64_t alloc_objects = 0, alloc_bytes = 0;
  uint64_t inuse_objects = 0, inuse_bytes = 0;
  uint64_t inuse_segment_bytes = 0;  // part of inuse_bytes
};

// Counts allocations during a second replay. Memory is bounded by the number of sites. Thread-compatible.
class SiteCounter final : public ReplayObserver {
 public:
  // `steps` are indices of the first and last step whose allocations count; nullopt: all.
  explicit SiteCounter(std::optional<std::pair<uint32_t, uint32_t>> steps) : steps_(std::move(steps)) {}

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    Count(allocated.allocation.site, 1, allocated.allocation.bytes);
  }
  void OnFold(SiteIndex site, uint64_t objects, uint64_t bytes, bool born) override {
    if (born) Count(site, objects, bytes);
  }

  // Records what is in use now on `device`, which is as in MomentWatch.
  void TakeInUse(DeviceIndex device);

  // Returns the counts after the replay.
  IndexedVector<SiteIndex, SiteCounts> Finish();

 private:
  void Count(SiteIndex site, uint64_t objects, uint64_t bytes);

  const Ledger* ledger_ = nullptr;
  std::optional<std::pair<uint32_t, uint32_t>> steps_;
  IndexedVector<SiteIndex, SiteCounts> counts_;
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_SITE_COUNTS_H_
