// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_OOM_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_OOM_FINDINGS_H_

#include <cstdint>
#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/oom_study.h"

namespace vramtrack {

// For each failed allocation of the ledger the sites that were allocated by the same call: their stacks are alike from
// where the allocator was called.
std::vector<std::vector<uint32_t>> AskingSites(const Trace& trace, const Ledger& ledger);

// Who held the memory, by site and by category, and what has changed since the last good step. Sites are named by the
// index of their group. `oom`: as DescribeOutOfMemory made it.
void DescribeHolders(const ProcessAnalysis& analysis, const std::vector<Purpose>& purposes, const OutOfMemory& failed,
                     const OomStudy::Finding& study, ReportOom* oom);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_OOM_FINDINGS_H_
