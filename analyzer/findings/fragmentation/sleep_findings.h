// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_SLEEP_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_SLEEP_FINDINGS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/btree_map.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// Finds cycles of sleep and wake: a server releases memory while its tensors keep their addresses, and maps other
// memory there before it uses them again. vLLM's CuMemAllocator and torch_memory_saver do so.
//
// A mapping at the address of an earlier mapping that was removed is a wake if the addresses stayed in use: if a live
// block of a framework is there, or, on a device without blocks, in any case. PyTorch's expandable segments also map
// memory at addresses that they had before, but only where no block is. A cycle ends when memory is unmapped again, or
// when nothing sleeps.
class SleepFindings final : public Collector, public ReplayObserver {
 public:
  // Returns whether the trace can have such cycles: it removed mappings.
  static bool AreDue(const Ledger& ledger);

  // `analysis` must outlive it.
  explicit SleepFindings(ProcessAnalysis* analysis) : analysis_(*analysis) {}

  const char* name() const override { return "sleep and wake"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(this); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

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

 private:
  using Ranges = absl::btree_map<uint64_t, uint64_t>;  // addresses and bytes
  using SiteBytes = std::map<SiteIndex, uint64_t>;
  struct Device {
    Ranges unmapped;  // where memory was, within ranges of addresses that are still reserved
    bool waking = false;
    bool looked = false;  // the two below are valid
    Ranges blocks;        // live blocks in `unmapped`
    SiteBytes asleep;     // their bytes
    // Memory made since the last mapping was removed, by handle: a wake makes it before it maps it.
    std::map<uint64_t, std::pair<SiteIndex, uint64_t>> made;
    ReportSleep report;
    // What each site held in the second and the last cycle: neither blocks that slept nor segments.
    SiteBytes second, last;
    uint64_t second_bytes = 0;  // of the whole device
  };

  void Create(const ReplayAllocation& memory);
  void Map(const ReplayAllocation& mapping);
  void Unmap(const ReplayAllocation& freed);
  bool IsInUse(DeviceIndex index, Device* device, uint64_t address, uint64_t bytes) const;
  // `memory`: the handle whose mapping wakes. `segment_bytes`: the bytes that count as a segment again by it.
  void NoteCycle(DeviceIndex index, uint64_t memory, uint64_t segment_bytes, Device* device) const;
  void DescribeLines(const Replay& replay, Device* device);

  ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::map<DeviceIndex, Device> devices_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_SLEEP_FINDINGS_H_
