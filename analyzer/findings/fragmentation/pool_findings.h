// SPDX-License-Identifier: Apache-2.0
//
// Describes what the driver's pools of stream-ordered memory need, and what they may hold without need.
// docs/fragmentation.md explains it.
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/memory_pools.h"

namespace vramtrack {

class PoolFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit PoolFindings(const ProcessAnalysis& analysis) : analysis_(analysis) {}

  const char* name() const override { return "memory pools"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&pools_); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  const ProcessAnalysis& analysis_;
  MemoryPools pools_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_POOL_FINDINGS_H_
