// SPDX-License-Identifier: Apache-2.0
//
// What live bytes consist of over the run, within the step of the peak, and, call by call, at the peak.
#ifndef ANALYZER_FINDINGS_PEAKS_COMPOSITION_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_COMPOSITION_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/composition_timeline.h"
#include "analyzer/peaks/step_curve.h"

namespace vramtrack {

// By scope, the groups of analysis.groups() that are followed by themselves: leaks, and what holds most at the peak.
std::map<uint32_t, std::vector<size_t>> CompositionGroups(const ProcessAnalysis& analysis);

// The same as sites of the ledger, for CompositionTimeline.
std::map<uint32_t, std::vector<std::vector<uint32_t>>> CompositionSites(const ProcessAnalysis& analysis);

// Fills in `timelines`, as DescribeTimeline made them. Their sites are indices of analysis.groups().
void AddCompositions(const ProcessAnalysis& analysis, const CompositionTimeline& composition,
                     std::vector<ReportTimeline>* timelines);

// Fills in what there is within steps.
void AddStepCurves(const ProcessAnalysis& analysis, const StepCurve& curve, std::vector<ReportTimeline>* timelines);

// Of each device and of the host; nodes that hold hardly anything are part of their parents only. `sites`: one for each
// of analysis.groups().
std::vector<ReportPeakStacks> DescribePeakStacks(const ProcessAnalysis& analysis, const std::vector<ReportSite>& sites);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_COMPOSITION_FINDINGS_H_
