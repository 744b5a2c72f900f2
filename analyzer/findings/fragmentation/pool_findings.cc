// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/fragmentation/fragmentation_collectors.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/base/indices.h"
#include "analyzer/base/quantity.h"
#include "analyzer/findings/core/device_findings.h"
#include "analyzer/ledger/kind.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/page_usage.h"
#include "proto/pool_setting.h"

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
    CountKept(&findings->sites);
    for (auto& [key, pool] : pools_) {
      const auto& [index, handle] = key;
      const auto device = std::find_if(findings->devices.begin(), findings->devices.end(),
                                       [of = index](const ReportDevice& d) { return DeviceIndex(d.index) == of; });
      if (device == findings->devices.end()) continue;
      ReportMemoryPool& report = pool.report;
      report.pool = handle == kDefaultPool ? "default" : absl::StrFormat("0x%x", handle);
      report.free_at_end = FreeNow(pool);
      report.release_threshold = pool.largest_threshold;
      if (handle != kDefaultPool) {
        // An older trace does not say for which pool a threshold was set: it may be this one.
        const auto unknown = thresholds_.find({index, kDefaultPool});
        if (report.release_threshold == 0 && unknown != thresholds_.end()) report.release_threshold.reset();
      }
      device->memory_pools.push_back(std::move(report));
    }
    for (ReportDevice& device : findings->devices) KeepLargest(&device.memory_pools);
  }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }

  void OnAllocate(const ReplayAllocation& allocated) override {
    const LiveAllocation& allocation = allocated.allocation;
    const uint32_t kind = allocated.site.key.kind;
    if (kind == schema::MEMORY_POOL) created_[allocation.address()] = {allocation.site, true};
    if (!IsStreamOrdered(kind)) return;
    const Key key = {allocation.device(), kind == schema::POOL ? allocated.stream : kDefaultPool};
    const auto [at, is_new] = pools_.try_emplace(key);
    Pool& pool = at->second;
    if (is_new) {
      if (const auto set = thresholds_.find(key); set != thresholds_.end()) pool.SetThreshold(set->second);
    }
    pool_of_[{allocated.slot, allocated.ordinal}] = key;
    pool.pages.Add(allocation.address(), allocation.bytes);
    const DeviceUsage usage = pool.pages.usage();
    ++pool.report.allocations;
    pool.report.peak_live = std::max(pool.report.peak_live, usage.live);
    pool.report.lower_bound = std::max(pool.report.lower_bound, usage.live + usage.rounding);
    pool.report.upper_bound = std::max(pool.report.upper_bound, usage.reserved);
    Settle(&pool);
  }

  void OnFree(const ReplayAllocation& freed) override {
    if (freed.site.key.kind == schema::MEMORY_POOL) Destroyed(freed.allocation.address());
    if (!IsStreamOrdered(freed.site.key.kind)) return;
    const auto found = pool_of_.find({freed.slot, freed.ordinal});
    if (found == pool_of_.end()) return;
    const Key key = found->second;
    pool_of_.erase(found);
    Pool& pool = pools_[key];
    pool.pages.Remove(freed.allocation.address(), freed.allocation.bytes);
    Settle(&pool);
  }

  void OnOtherEvent(const StreamEvent& event) override {
    const DeviceIndex device(event.shape->device);
    if (event.operation == schema::LIMIT && event.shape->kind == schema::MEMORY_POOL &&
        AttributeOf(event.value[0]) == kReleaseThreshold) {
      const Key key = KeyOf(device, PoolOf(event.value[0]));
      thresholds_[key] = event.value[1];
      if (const auto found = pools_.find(key); found != pools_.end()) found->second.SetThreshold(event.value[1]);
    }
    if (event.operation != schema::TRIM || event.shape->kind == schema::GRAPH_MEMORY) return;
    const auto found = pools_.find(KeyOf(device, event.value[0]));
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
  static constexpr size_t kMostPools = 8;        // of a device in a report
  struct Pool {
    // Lowering it releases nothing before the next wait, for which Settle() allows.
    void SetThreshold(uint64_t bytes) {
      threshold = bytes;
      largest_threshold = std::max(largest_threshold, bytes);
    }

    PageUsage pages;
    uint64_t threshold = 0, largest_threshold = 0;
    uint64_t held = 0;           // upper bound, in bytes of pages: if only trimming releases memory
    uint64_t held_at_least = 0;  // lower bound, in bytes of pages: if the job waits after each free
    ReportMemoryPool report;
  };

  // A pool that the process created.
  struct Created {
    SiteIndex site;
    bool live = false;
  };

  // A pool that nobody created is the device's own.
  Key KeyOf(DeviceIndex device, uint64_t handle) const {
    const bool is_own = created_.find(handle) == created_.end() && pools_.find({device, handle}) == pools_.end();
    return {device, is_own ? kDefaultPool : handle};
  }

  // Its memory goes back as soon as nothing in it is live. The handle may come back as that of another pool.
  void Destroyed(uint64_t handle) {
    if (const auto found = created_.find(handle); found != created_.end()) found->second.live = false;
    for (auto at = thresholds_.begin(); at != thresholds_.end();) {
      at = at->first.second == handle ? thresholds_.erase(at) : std::next(at);
    }
    for (auto& [key, pool] : pools_) {
      if (key.second != handle) continue;
      pool.threshold = 0;
      pool.held = pool.held_at_least = pool.pages.reserved();
    }
  }

  static uint64_t FreeNow(const Pool& pool) {
    const uint64_t pages = pool.pages.reserved();
    return pool.held_at_least - std::min(pool.held_at_least, pages);
  }

  // Adds to the sites that created pools what those that are left keep.
  void CountKept(std::vector<ReportSite>* sites) const {
    std::map<SiteIndex, uint64_t> kept;
    for (const auto& [key, pool] : pools_) {
      const auto created = created_.find(key.second);
      if (created != created_.end() && created->second.live) kept[created->second.site] += FreeNow(pool);
    }
    if (kept.empty()) return;
    for (size_t i = 0; i < analysis_.groups().size(); ++i) {
      for (const SiteIndex site : analysis_.groups()[i].sites) {
        if (const auto found = kept.find(site); found != kept.end()) (*sites)[i].kept_in_pools += found->second;
      }
      if ((*sites)[i].kept_in_pools == 0) continue;
      absl::StrAppend(&(*sites)[i].explanation, "; they keep ",
                      FormatByteCount(static_cast<double>((*sites)[i].kept_in_pools)), " that nothing uses");
    }
  }

  // Sums up all but those that have most. What adds up in each adds up in the sum.
  static void KeepLargest(std::vector<ReportMemoryPool>* pools) {
    if (pools->size() <= kMostPools) return;
    std::stable_sort(pools->begin(), pools->end(),
                     [](const ReportMemoryPool& a, const ReportMemoryPool& b) { return a.reserved > b.reserved; });
    ReportMemoryPool others = (*pools)[kMostPools - 1];
    for (size_t i = kMostPools; i < pools->size(); ++i) {
      const ReportMemoryPool& pool = (*pools)[i];
      others.allocations += pool.allocations;
      others.trims += pool.trims;
      others.peak_live += pool.peak_live;
      others.lower_bound += pool.lower_bound;
      others.upper_bound += pool.upper_bound;
      others.reserved += pool.reserved;
      others.live += pool.live;
      others.rounding += pool.rounding;
      others.free_pinned += pool.free_pinned;
      others.free_releasable += pool.free_releasable;
      others.free_releasable_at_least += pool.free_releasable_at_least;
      others.free_at_end += pool.free_at_end;
      if (others.release_threshold != pool.release_threshold) others.release_threshold.reset();
    }
    others.step.reset();
    others.pool = absl::StrCat(pools->size() - kMostPools + 1, " others");
    pools->resize(kMostPools - 1);
    pools->push_back(std::move(others));
  }

  // Keeps the moment at which most was free.
  void Settle(Pool* pool) const {
    const DeviceUsage usage = pool->pages.usage();
    const uint64_t pages = usage.reserved;
    pool->held = std::max(pool->held, pages);
    pool->held_at_least = std::max(pages, std::min(pool->held_at_least, WholePages(pool->threshold)));
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

  const ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::map<Key, Pool> pools_;
  absl::flat_hash_map<AllocationName, Key> pool_of_;  // the pool of each live allocation
  absl::flat_hash_map<uint64_t, Created> created_;    // by handle
  std::map<Key, uint64_t> thresholds_;
};

}  // namespace

std::unique_ptr<Collector> MakePoolFindings(const ProcessAnalysis& analysis) {
  return std::make_unique<PoolFindings>(analysis);
}

}  // namespace vramtrack
