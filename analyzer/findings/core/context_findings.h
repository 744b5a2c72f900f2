// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_CORE_CONTEXT_FINDINGS_H_
#define ANALYZER_FINDINGS_CORE_CONTEXT_FINDINGS_H_

#include <memory>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// Says which call stacks made CUDA contexts, and on which devices the process has hardly anything else. `analysis` must
// outlive it.
std::unique_ptr<Collector> MakeContextFindings(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_CONTEXT_FINDINGS_H_
