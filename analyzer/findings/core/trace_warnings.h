// SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a trace, so that what a report says of it is to be taken with care: one line each.
#ifndef ANALYZER_FINDINGS_CORE_TRACE_WARNINGS_H_
#define ANALYZER_FINDINGS_CORE_TRACE_WARNINGS_H_

#include <string>
#include <vector>

#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

void AddTraceWarnings(const Trace& trace, const Ledger& ledger, const FailureLog& failures,
                      std::vector<std::string>* warnings);
void AddModuleWarnings(const Symbolizer& symbolizer, std::vector<std::string>* warnings);
// Devices that are given out more than they have.
void AddDeviceWarnings(const std::string& path, const std::vector<ReportDevice>& devices,
                       std::vector<std::string>* warnings);

// The share of a process's frees that its trace does not have, as far as one can tell: 0 of a whole one, at most 1.
// `ledger` has replayed it.
double LostShare(const Trace& trace, const Ledger& ledger);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_TRACE_WARNINGS_H_
