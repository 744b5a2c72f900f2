// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_
#define ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Describes the process of a trace; `ledger` has replayed it.
ReportProcess DescribeProcess(const Trace& trace, const Ledger& ledger);
ReportSteps DescribeSteps(const ProcessAnalysis& analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_
