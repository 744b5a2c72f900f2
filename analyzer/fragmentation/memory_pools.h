// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_MEMORY_POOLS_H_
#define ANALYZER_FRAGMENTATION_MEMORY_POOLS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/page_usage.h"
#include "analyzer/ledger/replay_observer.h"

namespace vramtrack {

// Follows the driver's pools of stream-ordered memory (cudaMallocAsync, cudaMallocFromPoolAsync): what is allocated
// from each, and how much each may hold. A pool keeps freed memory until it is trimmed, or until the next wait for the
// device, at which it releases all above its release threshold. A trace does not record when the job waits, so the
// held bytes are known only between two bounds. Thread-compatible.
class MemoryPools : public ReplayObserver {
 public:
  struct Moment {
    uint32_t step = 0;
    DeviceUsage usage;
    uint64_t held = 0;  // bytes of pages: usage.reserved and free pages
  };
  struct Pool {
    uint64_t allocations = 0, frees = 0, trims = 0;
    uint64_t peak_live = 0;                 // as requested
    uint64_t peak_needed = 0;               // with rounding
    uint64_t peak_pages = 0;                // bytes of pages that allocations touch
    Moment most_unused;                     // if only trimming releases memory
    uint64_t most_unused_at_least = 0;      // bytes of pages, if the job waited after each free
    std::optional<uint64_t> threshold = 0;  // the largest one that was set; none if its pool is unknown
  };
  static constexpr uint64_t kDefaultPool = 0;

  // Returns the pools by device and handle, after the replay. The device's own pool is kDefaultPool.
  std::map<std::pair<DeviceIndex, uint64_t>, Pool> Finish();

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnOtherEvent(const StreamEvent& event) override;

 private:
  using Key = std::pair<DeviceIndex, uint64_t>;
  using Name = AllocationName;
  struct State {
    Pool pool;
    PageUsage pages;
    uint64_t held = 0;           // upper bound, in bytes of pages
    uint64_t held_at_least = 0;  // lower bound, in bytes of pages
  };

  void Settle(Key key, State* state);
  uint64_t ThresholdOf(const Key& key) const;

  const Ledger* ledger_ = nullptr;
  std::map<Key, State> pools_;
  absl::flat_hash_map<Name, Key> pool_of_;  // the pool of each live allocation
  // Events of thresholds do not name the pool.
  std::map<DeviceIndex, uint64_t> thresholds_, largest_thresholds_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_MEMORY_POOLS_H_
