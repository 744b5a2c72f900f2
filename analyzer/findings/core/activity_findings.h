// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_

#include <memory>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Adds findings from CUPTI's records to those from the hooked events: which libraries hold memory that only CUPTI saw,
// and when leaked memory was last used. `analysis` must outlive it and have activities().
std::unique_ptr<Collector> MakeActivityFindings(const ProcessAnalysis& analysis);

// Adds to the explanation of a site that only CUPTI saw it.
void AddWhoSawIt(ReportSite* site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_ACTIVITY_FINDINGS_H_
