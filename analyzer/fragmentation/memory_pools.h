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
// from each, and what it may hold back. A pool keeps what is freed, down to its release threshold from the next wait
// for the device on, and whatever it is until it is trimmed; when the job waits is not in a trace, so what is held is
// known between two bounds. Thread-compatible.
class MemoryPools : public ReplayObserver {
 public:
  struct Moment {
    uint32_t step = 0;
    DeviceUsage usage;
    uint64_t held = 0;  // pages: usage.reserved and what is free besides
  };
  struct Pool {
    uint64_t allocations = 0, frees = 0, trims = 0;
    uint64_t peak_live = 0;                 // as asked for
    uint64_t peak_needed = 0;               // with rounding
    uint64_t peak_pages = 0;                // that allocations touch
    Moment most_unused;                     // if nothing is given back but by trimming
    uint64_t most_unused_at_least = 0;      // if the job waited after each free: pages
    std::optional<uint64_t> threshold = 0;  // the largest it was set to; none: it is not known of which pool
  };
  static constexpr uint64_t kDefaultPool = 0;

  // By device and handle of the pool, after the replay. The device's own pool is kDefaultPool.
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
    uint64_t held = 0;           // at most
    uint64_t held_at_least = 0;  // pages
  };

  void Settle(Key key, State* state);
  uint64_t ThresholdOf(const Key& key) const;

  const Ledger* ledger_ = nullptr;
  std::map<Key, State> pools_;
  absl::flat_hash_map<Name, Key> pool_of_;  // live allocations
  // Thresholds are told without their pool.
  std::map<DeviceIndex, uint64_t> thresholds_, largest_thresholds_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_MEMORY_POOLS_H_
