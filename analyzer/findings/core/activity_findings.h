// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_

#include <vector>

#include "analyzer/cupti/activity_join.h"
#include "analyzer/cupti/device_use.h"
#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Adds findings from CUPTI's records to those from the hooked events: which libraries hold memory that only CUPTI saw,
// and when leaked memory was last used. Only for a trace with such records.
class ActivityFindings final : public Collector {
 public:
  // `analysis` must outlive it and have activities().
  explicit ActivityFindings(const ProcessAnalysis& analysis);

  const char* name() const override { return "use of memory"; }
  void Prepare(Replay* detail) override { detail->observers.push_back(&use_); }
  void Describe(const Replay& replay, ProcessFindings* findings) override;

 private:
  void DescribeUnseen(std::vector<ReportDevice>* devices) const;
  void DescribeUse(ProcessFindings* findings) const;

  const ProcessAnalysis& analysis_;
  DeviceUse use_;
};

// Adds to the explanation of a site that only CUPTI saw it.
void AddWhoSawIt(ReportSite* site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_
