// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_SITE_FINDINGS_H_
#define ANALYZER_FINDINGS_SITE_FINDINGS_H_

#include <memory>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// Adds the sites of the report, one for each of the analysis' groups, in their order. Each has the frame to blame and
// the peak without the site. This is the first collector: others add to these sites and name them by index. `analysis`
// must outlive it.
std::unique_ptr<Collector> MakeSiteFindings(ProcessAnalysis* analysis);

// Adds to each site the names that the program itself gives with NVTX: to what it does, the ranges that are open while
// the site allocates, and to the memory. Only for a trace with names of marks. `analysis` must outlive it.
std::unique_ptr<Collector> MakeRangeFindings(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_SITE_FINDINGS_H_
