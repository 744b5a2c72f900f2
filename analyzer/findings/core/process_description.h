// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_
#define ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_

#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// `ledger` after its replay, with the histories of sites.
ReportProcess DescribeProcess(const Trace& trace, const Ledger& ledger);
ReportSteps DescribeSteps(const Ledger& ledger);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_
