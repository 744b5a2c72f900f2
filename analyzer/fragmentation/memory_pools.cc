// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/memory_pools.h"

#include <algorithm>

#include "analyzer/ledger/kind.h"

namespace vramtrack {
namespace {

constexpr uint64_t kReleaseThreshold = 4;  // cudaMemPoolAttrReleaseThreshold

uint64_t WholePages(uint64_t bytes) { return bytes / kDevicePageBytes * kDevicePageBytes; }

}  // namespace

void MemoryPools::OnAllocate(const ReplayAllocation& allocated) {
  const LiveAllocation& allocation = allocated.allocation;
  const uint32_t kind = allocated.site.key.kind;
  if (!IsStreamOrdered(kind)) return;
  const Key key = {allocation.device(), kind == schema::POOL ? allocated.stream : kDefaultPool};
  State& state = pools_[key];
  pool_of_[{allocated.slot, allocated.ordinal}] = key;
  ++state.pool.allocations;
  state.pages.Add(allocation.address(), allocation.bytes);
  const DeviceUsage usage = state.pages.usage();
  state.pool.peak_live = std::max(state.pool.peak_live, usage.live);
  state.pool.peak_needed = std::max(state.pool.peak_needed, usage.live + usage.rounding);
  state.pool.peak_pages = std::max(state.pool.peak_pages, usage.reserved);
  Settle(key, &state);
}

void MemoryPools::OnFree(const ReplayAllocation& freed) {
  if (!IsStreamOrdered(freed.site.key.kind)) return;
  const auto found = pool_of_.find({freed.slot, freed.ordinal});
  if (found == pool_of_.end()) return;
  const Key key = found->second;
  pool_of_.erase(found);
  State& state = pools_[key];
  ++state.pool.frees;
  state.pages.Remove(freed.allocation.address(), freed.allocation.bytes);
  Settle(key, &state);
}

uint64_t MemoryPools::ThresholdOf(const Key& key) const {
  const auto found = thresholds_.find(key.first);
  return found == thresholds_.end() ? 0 : found->second;
}

void MemoryPools::Settle(Key key, State* state) {
  const uint64_t pages = state->pages.reserved();
  state->held = std::max(state->held, pages);
  state->held_at_least = std::max(pages, std::min(std::max(state->held_at_least, pages), WholePages(ThresholdOf(key))));
  Pool& pool = state->pool;
  pool.most_unused_at_least = std::max(pool.most_unused_at_least, state->held_at_least - pages);
  if (pool.most_unused.held != 0 && state->held - pages <= pool.most_unused.held - pool.most_unused.usage.reserved) {
    return;
  }
  pool.most_unused = {ledger_->steps().step(), state->pages.usage(), state->held};
}

void MemoryPools::OnOtherEvent(const StreamEvent& event) {
  const DeviceIndex device(event.shape->device);
  if (event.operation == schema::LIMIT && event.shape->kind == schema::MEMORY_POOL &&
      event.value[0] == kReleaseThreshold) {
    thresholds_[device] = event.value[1];
    largest_thresholds_[device] = std::max(largest_thresholds_[device], event.value[1]);
  }
  if (event.operation != schema::TRIM || event.shape->kind == schema::GRAPH_MEMORY) return;
  // A pool that nothing was taken from by its handle is the device's own.
  Key key = {device, event.value[0]};
  if (pools_.count(key) == 0) key.second = kDefaultPool;
  const auto found = pools_.find(key);
  if (found == pools_.end()) return;
  State& state = found->second;
  ++state.pool.trims;
  const uint64_t keep = std::max(state.pages.reserved(), WholePages(event.value[1]));
  state.held = std::min(state.held, keep);
  state.held_at_least = std::min(state.held_at_least, keep);
}

std::map<std::pair<DeviceIndex, uint64_t>, MemoryPools::Pool> MemoryPools::Finish() {
  std::map<Key, Pool> pools;
  std::map<DeviceIndex, size_t> on_device;
  for (const auto& [key, state] : pools_) ++on_device[key.first];
  for (auto& [key, state] : pools_) {
    Pool& pool = pools[key] = state.pool;
    const auto threshold = largest_thresholds_.find(key.first);
    if (threshold == largest_thresholds_.end()) continue;
    if (on_device[key.first] == 1) {
      pool.threshold = threshold->second;
    } else {
      pool.threshold.reset();
      pool.most_unused_at_least = 0;
    }
  }
  return pools;
}

}  // namespace vramtrack
