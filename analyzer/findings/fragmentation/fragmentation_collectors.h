// SPDX-License-Identifier: Apache-2.0
//
// How memory that is reserved is used. `analysis` must outlive the collectors. docs/fragmentation.md explains them.
#ifndef ANALYZER_FINDINGS_FRAGMENTATION_FRAGMENTATION_COLLECTORS_H_
#define ANALYZER_FINDINGS_FRAGMENTATION_FRAGMENTATION_COLLECTORS_H_

#include <memory>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"

namespace vramtrack {

// How a framework's allocator uses its segments, and settings that would have helped.
std::unique_ptr<Collector> MakeSegmentFindings(ProcessAnalysis* analysis);
// Where a framework's allocator released segments. Only for a trace with a framework's level.
std::unique_ptr<Collector> MakeReleaseFindings(ProcessAnalysis* analysis);
// The driver's pools of stream-ordered memory.
std::unique_ptr<Collector> MakePoolFindings(const ProcessAnalysis& analysis);
// Cycles of sleep and wake. Only for a trace that removed mappings.
std::unique_ptr<Collector> MakeSleepFindings(ProcessAnalysis* analysis);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_FRAGMENTATION_FRAGMENTATION_COLLECTORS_H_
