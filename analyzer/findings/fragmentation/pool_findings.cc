// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/pool_findings.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/findings/core/device_findings.h"

namespace vramtrack {

void PoolFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  for (const auto& [key, pool] : pools_.Finish()) {
    for (ReportDevice& device : findings->devices) {
      if (DeviceIndex(device.index) != key.first) continue;
      ReportMemoryPool& described = device.memory_pools.emplace_back();
      described.pool = key.second == MemoryPools::kDefaultPool ? "default" : absl::StrFormat("0x%x", key.second);
      described.allocations = pool.allocations;
      described.trims = pool.trims;
      described.release_threshold = pool.threshold;
      described.peak_live = pool.peak_live;
      described.lower_bound = pool.peak_needed;
      described.upper_bound = pool.peak_pages;
      const MemoryPools::Moment& moment = pool.most_unused;
      described.step = ReportedStep(analysis_.run(), moment.step);
      described.reserved = moment.held;
      described.live = moment.usage.live;
      described.rounding = moment.usage.rounding;
      described.free_pinned = moment.usage.free_pinned;
      described.free_releasable = moment.held - moment.usage.reserved;
      described.free_releasable_at_least = pool.most_unused_at_least;
    }
  }
}

}  // namespace vramtrack
