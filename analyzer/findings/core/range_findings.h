// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_RANGE_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_RANGE_FINDINGS_H_

#include <string>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/peaks/nvtx_names.h"

namespace vramtrack {

// Adds to each site the names that the program itself gives with NVTX: to what it does, the ranges that are open while
// the site allocates, and to the memory. Only for a trace with names of marks.
class RangeFindings final : public Collector {
 public:
  // `analysis` must outlive it.
  explicit RangeFindings(ProcessAnalysis* analysis)
      : analysis_(*analysis), ranges_(analysis->trace()), names_(analysis->trace()) {}

  const char* name() const override { return "NVTX ranges"; }
  void Prepare(Replay* detail) override { detail->observers.insert(detail->observers.end(), {&ranges_, &names_}); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  // Returns the line of the user's code from which a range was opened; empty if it is not known, or one of several.
  std::string PlaceOf(const std::vector<StackIndex>& stacks) const;

  ProcessAnalysis& analysis_;
  NvtxRanges ranges_;
  MemoryNames names_;
};

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_RANGE_FINDINGS_H_
