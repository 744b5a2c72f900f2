// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_PEAKS_PATTERN_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_PATTERN_FINDINGS_H_

#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/object_patterns.h"

namespace vramtrack {

// Candidates, by device and category: sites whose objects live on into the next step as a rule, and sites where only
// some do, or that are freed by a garbage collector. None where the job itself does not tell where a step ends.
std::vector<LateGroup> LateGroups(const ProcessAnalysis& analysis, const std::vector<Purpose>& purposes);

// By scope: where the driver gives out memory that no allocator of a framework keeps.
std::vector<bool> ScopesOfDriver(const Ledger& ledger);

// The patterns of each device, by what they save at its peak; only those that matter. Sites are named by their index.
void DescribePatterns(const ProcessAnalysis& analysis, const std::vector<Purpose>& purposes, const LateObjects& late,
                      const ReusableMemory& reusable, std::vector<ReportDevice>* devices);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_PATTERN_FINDINGS_H_
