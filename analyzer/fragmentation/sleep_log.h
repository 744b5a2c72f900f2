// SPDX-License-Identifier: Apache-2.0
//
// Finds cycles of sleep and wake: a server releases memory while its tensors keep their addresses, and maps other
// memory there before it uses them again. vLLM's CuMemAllocator and torch_memory_saver do so.
#ifndef ANALYZER_FRAGMENTATION_SLEEP_LOG_H_
#define ANALYZER_FRAGMENTATION_SLEEP_LOG_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/ledger/ledger.h"

namespace vramtrack {

struct SleepCycle {
  uint64_t ticks = 0;
  // At the last moment before memory was mapped again.
  uint64_t released = 0, held = 0, cached = 0;  // bytes, see ReportSleep::Cycle
};

struct DeviceSleeps {
  static constexpr size_t kMaxCycles = 1000;
  std::vector<SleepCycle> cycles;  // the first kMaxCycles
  uint64_t count = 0;
  bool asleep = false;
  // What each site held in a cycle, where that differs from the cycle before: (cycle, bytes). Blocks of a framework
  // whose memory slept, and segments of its allocator, are left out.
  absl::flat_hash_map<SiteIndex, std::vector<std::pair<size_t, uint64_t>>> held;
};

// Follows a replay. A mapping at the address of an earlier mapping that was removed is a wake if the addresses stayed
// in use: if a live block of a framework is there, or, on a device without blocks, in any case. PyTorch's expandable
// segments also map memory at addresses that they had before, but only where no block is. A cycle ends when memory is
// unmapped again, or when nothing sleeps. Thread-compatible.
class SleepLog final : public ReplayObserver {
 public:
  // Cycles with at least one wake, by device.
  const std::map<DeviceIndex, DeviceSleeps>& devices() const { return devices_; }

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override {
    const uint32_t kind = allocated.site.key.kind;
    if (__builtin_expect(kind == schema::MAPPING, 0)) Map(allocated);
    if (__builtin_expect(kind == schema::PHYSICAL, 0)) Create(allocated);
  }
  void OnFree(const ReplayAllocation& freed) override {
    const uint32_t kind = freed.site.key.kind;
    if (__builtin_expect(kind == schema::MAPPING || kind == schema::ADDRESS_RANGE, 0)) Unmap(freed);
  }
  void OnEnd() override;

 private:
  using Ranges = absl::btree_map<uint64_t, uint64_t>;  // addresses and bytes
  struct State {
    Ranges unmapped;  // where memory was, within ranges of addresses that are still reserved
    bool waking = false;
    bool looked = false;  // `blocks` is valid
    Ranges blocks;        // live blocks in `unmapped`
    // Memory made since the last mapping was removed, by site: a wake makes it before it maps it.
    std::map<SiteIndex, uint64_t> made;
  };

  void Create(const ReplayAllocation& memory);
  void Map(const ReplayAllocation& mapping);
  void Unmap(const ReplayAllocation& freed);
  bool IsInUse(DeviceIndex device, State* state, uint64_t address, uint64_t bytes) const;
  // `memory`: the handle whose mapping wakes. `segment_bytes`: the bytes that count as a segment again by it.
  void NoteCycle(DeviceIndex device, const State& state, uint64_t memory, uint64_t segment_bytes);

  const Ledger* ledger_ = nullptr;
  std::map<DeviceIndex, State> states_;
  std::map<DeviceIndex, DeviceSleeps> devices_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_SLEEP_LOG_H_
