// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_RELEASE_FINDINGS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_RELEASE_FINDINGS_H_

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/fragmentation/releases.h"

namespace vramtrack {

// Describes where a framework's allocator released segments. Only for a trace with a framework's level.
class ReleaseFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit ReleaseFindings(ProcessAnalysis* analysis) : analysis_(*analysis), releases_(analysis->trace()) {}

  const char* name() const override { return "released memory"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&releases_); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  ProcessAnalysis& analysis_;
  ReleaseLog releases_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_RELEASE_FINDINGS_H_
