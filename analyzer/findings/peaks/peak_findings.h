// SPDX-License-Identifier: Apache-2.0
//
// What the memory at the peaks is for, how old and how large it is, and how the categories change over the run.
#ifndef ANALYZER_FINDINGS_PEAKS_PEAK_FINDINGS_H_
#define ANALYZER_FINDINGS_PEAKS_PEAK_FINDINGS_H_

#include <vector>

#include "analyzer/attribution/category.h"
#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/model/report.h"
#include "analyzer/peaks/category_timeline.h"
#include "analyzer/peaks/peak_live_set.h"

namespace vramtrack {

// By site. Symbolizes the sites that hold nearly all of the memory; the others are Category::kOther.
std::vector<Purpose> PurposesOfSites(ProcessAnalysis* analysis);

// Groups of analysis->groups() that are taken away from a device's peak together.
struct LargestTogether {
  uint32_t device = 0;
  std::vector<size_t> groups;  // those that hold most at the peak, the largest first
};

// The largest of each device, the two largest and the three largest.
std::vector<LargestTogether> LargestGroups(const ProcessAnalysis& analysis);

// All sites of some groups.
std::vector<uint32_t> SitesOf(const ProcessAnalysis& analysis, const LargestTogether& together);

// Fills in what a device's peak consists of. `devices`: as DescribeDevices made them.
void DescribePeaks(const Ledger& ledger, const std::vector<Purpose>& purposes, const PeakLiveSet& live_set,
                   std::vector<ReportDevice>* devices);

// Fills in the categories. `timelines`: as DescribeTimeline made them.
void AddCategories(const Ledger& ledger, const CategoryTimeline& categories, std::vector<ReportTimeline>* timelines);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_PEAKS_PEAK_FINDINGS_H_
