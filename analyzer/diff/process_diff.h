// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_PROCESS_DIFF_H_
#define ANALYZER_DIFF_PROCESS_DIFF_H_

#include "analyzer/diff/diff_options.h"
#include "analyzer/diff_report.h"
#include "analyzer/ingest/trace.h"

namespace vramtrack {

// Compares one process with its counterpart.
DiffReport DiffProcesses(const Trace& base, const Trace& next, const DiffOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_PROCESS_DIFF_H_
