// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_

#include <cstdint>
#include <map>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/ledger/page_usage.h"

namespace vramtrack {

// Describes the driver's pools of stream-ordered memory (cudaMallocAsync, cudaMallocFromPoolAsync): what each needs,
// and what it may hold without need. A pool keeps freed memory until it is trimmed, or until the next wait for the
// device, at which it releases all above its release threshold. A trace does not record when the job waits, so the
// held bytes are known only between two bounds. docs/fragmentation.md explains it.
class PoolFindings final : public Collector, public ReplayObserver {
 public:
  // `analysis` must outlive it.
  explicit PoolFindings(const ProcessAnalysis& analysis) : analysis_(analysis) {}

  const char* name() const override { return "memory pools"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(this); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnAllocate(const ReplayAllocation& allocated) override;
  void OnFree(const ReplayAllocation& freed) override;
  void OnOtherEvent(const StreamEvent& event) override;

 private:
  using Key = std::pair<DeviceIndex, uint64_t>;  // device and handle
  static constexpr uint64_t kDefaultPool = 0;    // the device's own
  struct Pool {
    PageUsage pages;
    uint64_t held = 0;           // upper bound, in bytes of pages: if only trimming releases memory
    uint64_t held_at_least = 0;  // lower bound, in bytes of pages: if the job waits after each free
    ReportMemoryPool report;
  };

  void Settle(DeviceIndex device, Pool* pool) const;
  uint64_t ThresholdOf(DeviceIndex device) const;

  const ProcessAnalysis& analysis_;
  const Ledger* ledger_ = nullptr;
  std::map<Key, Pool> pools_;
  absl::flat_hash_map<AllocationName, Key> pool_of_;  // the pool of each live allocation
  // Events of thresholds do not name the pool.
  std::map<DeviceIndex, uint64_t> thresholds_, largest_thresholds_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_
