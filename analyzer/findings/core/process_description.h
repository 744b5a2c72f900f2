// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_
#define ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_

#include <optional>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/machine.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Describes the process of a trace; `ledger` has replayed it.
ReportProcess DescribeProcess(const Trace& trace, const Ledger& ledger);
ReportSteps DescribeSteps(const ProcessAnalysis& analysis);

// Describes the memory of the host that the process had, from the recorder's readings (HostReading in trace.proto) and
// from its pinned allocations. None if there are no readings.
std::optional<ReportHost> DescribeHost(const ProcessAnalysis& analysis);

// Describes what the process had of each card whose UUID is known, over time.
std::vector<CardUse> DescribeCardUses(const ProcessAnalysis& analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_PROCESS_DESCRIPTION_H_
