// SPDX-License-Identifier: Apache-2.0
//
// Describes problems of a trace that make its report less reliable, one line each.
#ifndef ANALYZER_FINDINGS_CORE_TRACE_WARNINGS_H_
#define ANALYZER_FINDINGS_CORE_TRACE_WARNINGS_H_

#include <string>
#include <vector>

#include "analyzer/attribution/stack_symbolizer.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/failure_log.h"
#include "analyzer/symbols/symbolizer.h"

namespace vramtrack {

// Frees that CUDA refused, with the lines that called for the most of them.
void AddRefusedFrees(const Ledger& ledger, StackSymbolizer* symbolizer, std::vector<std::string>* warnings);

void AddTraceWarnings(const Trace& trace, const Ledger& ledger, const FailureLog& failures,
                      std::vector<std::string>* warnings);
void AddModuleWarnings(const std::vector<ModuleStatus>& modules, std::vector<std::string>* warnings);
// Adds a warning for each device on which more memory is allocated than it has.
void AddDeviceWarnings(const std::string& path, const std::vector<ReportDevice>& devices,
                       std::vector<std::string>* warnings);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_TRACE_WARNINGS_H_
