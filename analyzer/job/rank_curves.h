// SPDX-License-Identifier: Apache-2.0
//
// Makes the memory curve of each rank of a job, small enough to show many of them side by side.
#ifndef ANALYZER_JOB_RANK_CURVES_H_
#define ANALYZER_JOB_RANK_CURVES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// The number of bins in a summary of very many processes. With more bins, a report on that summary would differ from
// one on the traces.
constexpr size_t kMostCurveBins = 64;
constexpr size_t kMostCurves = 64;  // for a job

// Returns the curve of the device on which the process has its highest peak of live bytes; none if it used no device.
std::optional<ReportRankCurve> DescribeCurve(const ProcessFindings& findings);

// Adds the curves to `compared` and sets their order: first the ranks that differ from the others, by the figure that
// differs, by whether it is higher or lower than usual, and by how much; then the others by rank. If there are more
// than kMostCurves, the others are those with the highest peaks, then the one with the median peak and the one with
// the lowest. `processes`: the process of each of `compared`, in the same order, which must not depend on the order of
// reading.
void AddCurves(const std::vector<const JobProcess*>& processes, std::vector<ReportRank>* compared);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_RANK_CURVES_H_
