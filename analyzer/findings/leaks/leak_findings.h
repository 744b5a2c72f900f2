// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
#define ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_

#include <memory>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// Adds to the sites of a process which leak each belongs to, the figures of the leak as a whole, and what the steps
// left live. Sets the units of rates, which are per step before. `analysis` must outlive it.
std::unique_ptr<Collector> MakeLeakFindings(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_LEAKS_LEAK_FINDINGS_H_
