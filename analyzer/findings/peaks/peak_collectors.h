// SPDX-License-Identifier: Apache-2.0
//
// What the peaks consist of. `analysis` and `purposes`, which are by site, must outlive the collectors.
#ifndef ANALYZER_FINDINGS_PEAKS_PEAK_COLLECTORS_H_
#define ANALYZER_FINDINGS_PEAKS_PEAK_COLLECTORS_H_

#include <memory>
#include <vector>

#include "analyzer/findings/core/collector.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Returns the purpose of each site. Symbolizes the sites with nearly all of the memory; the others are
// Category::kOther.
SitePurposes PurposesOfSites(ProcessAnalysis* analysis);

// Returns the stacks at the peak of each device and of the host. Nodes with few bytes are only part of their parents.
// `sites`: one for each of analysis.groups().
std::vector<ReportPeakStacks> DescribePeakStacks(const ProcessAnalysis& analysis, const std::vector<ReportSite>& sites);

// The job's lines with the most bytes at the peaks. Symbolizes the sites with nearly all bytes of each peak.
std::unique_ptr<Collector> MakePeakLines(ProcessAnalysis* analysis, const SitePurposes& purposes);
// The composition of each device's peak, and the peak without its largest sites.
std::unique_ptr<Collector> MakePeakFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes);
// The composition of live bytes over the run, in the steps, and within the step of the peak.
std::unique_ptr<Collector> MakeTimelineFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes);
// Failed allocations: the live bytes at that moment, and what has changed since the last good step.
std::unique_ptr<Collector> MakeOomFindings(ProcessAnalysis* analysis, const SitePurposes& purposes);
// How the peak of a step depends on the value that its mark carries. Describes after the devices.
std::unique_ptr<Collector> MakeValueFindings(const ProcessAnalysis& analysis);
// Objects that are freed later than most of their sites.
std::unique_ptr<Collector> MakeLateFindings(const ProcessAnalysis& analysis, const SitePurposes& purposes);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_PEAK_COLLECTORS_H_
