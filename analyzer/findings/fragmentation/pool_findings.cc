// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/fragmentation_collectors.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/page_usage.h"

namespace vramtrack {
namespace {

constexpr uint64_t kReleaseThreshold = 4;  // cudaMemPoolAttrReleaseThreshold

uint64_t WholePages(uint64_t bytes) { return bytes / kDevicePageBytes * kDevicePageBytes; }

// Describes the driver's pools of stream-ordered memory (cudaMallocAsync, cudaMallocFromPoolAsync): what each needs,
// and what it may hold without need. A pool keeps freed memory until it is trimmed, or until the next wait for the
// device, at which it releases all above its release threshold. A trace does not record when the job waits, so the
// held bytes are known only between two bounds. docs/fragmentation.md explains it.
class PoolFindings final : public Collector, public ReplayObserver {
 public:
  explicit PoolFindings(const ProcessAnalysis& analysis) : analysis_(analysis) {}

  const char* name() const override { return "memory pools"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(this); }

  void Describe(const Replay& /*replay*/, ProcessFindings* findings) override {
    std::map<DeviceIndex, size_t> on_device;
    for (const auto& [key, pool] : pools_) ++on_device[key.first];
    for (auto& [key, pool] : pools_) {
      const auto& [index, handle] = key;
      const auto device = std::find_if(findings->devices.begin(), findings->devices.end(),
                                       [of = index](const ReportDevice& d) { return DeviceIndex(d.index) == of; });
      if (device == findings->devices.end()) continue;
      ReportMemoryPool& report = pool.report;
      report.pool = handle == kDefaultPool ? "default" : absl::StrFormat("0x%x", handle);
      report.release_threshold = 0;
      if (const auto threshold = largest_thresholds_.find(index); threshold != largest_thresholds_.end()) {
        report.release_threshold = threshold->second;
        if (on_device[index] > 1) {  // it is not known which one it is of
          report.release_threshold.reset();
          report.free_releasable_at_least = 0;
        }
      }
      device->memory_pools.push_back(std::move(report));
    }
  }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }

  void OnAllocate(const ReplayAllocation& allocated) override {
    const LiveAllocation& allocation = allocated.allocation;
    const uint32_t kind = allocated.site.key.kind;
    if (!IsStreamOrdered(kind)) return;
    const Key key = {allocation.device(), kind == schema::POOL ? allocated.stream : kDefaultPool};
    Pool& pool = pools_[key];
    pool_of_[{allocated.slot, allocated.ordinal}] = key;
    pool.pages.Add(allocation.address(), allocation.bytes);
    const DeviceUsage usage = pool.pages.usage();
    ++pool.report.allocations;
    pool.report.peak_live = std::max(pool.report.peak_live, usage.live);
    pool.report.lower_bound = std::max(pool.report.lower_bound, usage.live + usage.rounding);
    pool.report.upper_bound = std::max(pool.report.upper_bound, usage.reserved);
    Settle(key.first, &pool);
  }

  void OnFree(const ReplayAllocation& freed) override {
    if (!IsStreamOrdered(freed.site.key.kind)) return;
    const auto found = pool_of_.find({freed.slot, freed.ordinal});
    if (found == pool_of_.end()) return;
    const Key key = found->second;
    pool_of_.erase(found);
    Pool& pool = pools_[key];
    pool.pages.Remove(freed.allocation.address(), freed.allocation.bytes);
    Settle(key.first, &pool);
  }

  void OnOtherEvent(const StreamEvent& event) override {
    const DeviceIndex device(event.shape->device);
    if (event.operation == schema::LIMIT && event.shape->kind == schema::MEMORY_POOL &&
        event.value[0] == kReleaseThreshold) {
      thresholds_[device] = event.value[1];
      largest_thresholds_[device] = std::max(largest_thresholds_[device], event.value[1]);
    }
    if (event.operation != schema::TRIM || event.shape->kind == schema::GRAPH_MEMORY) return;
    // A pool that nothing was taken from by its handle is the device's own.
    auto found = pools_.find({device, event.value[0]});
    if (found == pools_.end()) found = pools_.find({device, kDefaultPool});
    if (found == pools_.end()) return;
    Pool& pool = found->second;
    ++pool.report.trims;
    const uint64_t keep = std::max(pool.pages.reserved(), WholePages(event.value[1]));
    pool.held = std::min(pool.held, keep);
    pool.held_at_least = std::min(pool.held_at_least, keep);
  }

 private:
  using Key = std::pair<DeviceIndex, uint64_t>;  // device and handle
  static constexpr uint64_t kDefaultPool = 0;    // the device's own
  struct Pool {
    PageUsage pages;
    uint64_t held = 0;           // upper bound, in bytes of pages: if only trimming releases memory
    uint64_t held_at_least = 0;  // lower bound, in bytes of pages: if the job waits after each free
    ReportMemoryPool report;
  };

  // Keeps the moment at which most was free.
  void Settle(DeviceIndex device, Pool* pool) const {
    const DeviceUsage usage = pool->pages.usage();
    const uint64_t pages = usage.reserved;
    pool->held = std::max(pool->held, pages);
    pool->held_at_least = std::max(pages, std::min(pool->held_at_least, WholePages(ThresholdOf(device))));
    ReportMemoryPool& report = pool->report;
    report.free_releasable_at_least = std::max(report.free_releasable_at_least, pool->held_at_least - pages);
    if (report.reserved != 0 && pool->held - pages <= report.free_releasable) return;
    report.step = ReportedStep(analysis_.run(), ledger_->steps().step());
    report.reserved = pool->held;
    report.live = usage.live;
    report.rounding = usage.rounding;
    report.free_pinned = usage.free_pinned;
    report.free_releasable = pool->held - pages;
  }

  uint64_t ThresholdOf(DeviceIndex device) const {
    const auto found = thresholds_.find(device);
    return found == thresholds_.end() ? 0 : found->second;
  }

  const ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::map<Key, Pool> pools_;
  absl::flat_hash_map<AllocationName, Key> pool_of_;  // the pool of each live allocation
  // Events of thresholds do not name the pool.
  std::map<DeviceIndex, uint64_t> thresholds_, largest_thresholds_;
};

}  // namespace

std::unique_ptr<Collector> MakePoolFindings(const ProcessAnalysis& analysis) {
  return std::make_unique<PoolFindings>(analysis);
}

}  // namespace vramtrack
