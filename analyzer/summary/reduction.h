// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SUMMARY_REDUCTION_H_
#define ANALYZER_SUMMARY_REDUCTION_H_

#include <string>

#include "analyzer/summary/process_summary.h"

namespace vramtrack {

// Makes curves coarser, pair by pair, and drops what only one process's report shows. Reducing in two steps is the
// same as in one, so that it does not matter in which order summaries are joined. No figure of a site or of a device
// changes.
void ReduceTo(Detail detail, ProcessSummary* process);

// "full", "job" or "fleet".
Detail DetailNamed(const std::string& name);

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_REDUCTION_H_
