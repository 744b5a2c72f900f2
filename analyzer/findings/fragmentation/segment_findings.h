// SPDX-License-Identifier: Apache-2.0
//
// Describes how a framework's allocator uses the driver's memory: how full its segments were at the peak, which sites
// pin them, and which changes would have helped, each tried on a model of the allocator. docs/fragmentation.md
// explains it.
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_FINDINGS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/torch_allocator/peak_segments.h"
#include "analyzer/fragmentation/torch_allocator/what_if.h"
#include "analyzer/leaks/reserve_growth.h"

namespace vramtrack {

class SegmentFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit SegmentFindings(ProcessAnalysis* analysis);

  const char* name() const override { return "segments"; }
  void Prepare(Replay* detail) override;
  void Describe(const Replay& replay, ProcessFindings* findings) override;

  // What other settings would have done, and the failed requests on which they were tried.
  struct Tried {
    torch_allocator::WhatIf outcome;
    std::vector<torch_allocator::RequestLog::Failure> failures;
  };

 private:
  // Tries other settings on the requests to devices whose allocator failed or reserved much unused memory.
  void TryAllSettings();

  ProcessAnalysis& analysis_;
  const std::map<DeviceIndex, ReserveGrowth> growing_;  // by device
  torch_allocator::PeakSegments segments_;
  // Of each device, after the replay.
  std::map<DeviceIndex, torch_allocator::PeakSegments::Result> found_;
  std::map<DeviceIndex, Tried> tried_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_SEGMENT_FINDINGS_H_
