// SPDX-License-Identifier: Apache-2.0
//
// How memory goes in each rank of a job, small enough to be shown of many beside each other.
#ifndef ANALYZER_JOB_RANK_CURVES_H_
#define ANALYZER_JOB_RANK_CURVES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// As many bins as a summary of very many processes keeps: with more, its report would not be that of the traces.
constexpr size_t kMostCurveBins = 64;
constexpr size_t kMostCurves = 64;  // of a job

// Of the device of which the process has most live at its peak; none if it used no device.
std::optional<ReportRankCurve> DescribeCurve(const ProcessFindings& findings);

// Gives `compared` the curves of those that are shown, and their order: first those that are unlike the others, by what
// it is, whether they have more or less than usual, and how much; then the others by rank. Of more than kMostCurves it
// is the others with the highest peaks, behind them the one with the median of their peaks and the one with the least.
// `processes`: of each of `compared`, in the same order, which must not depend on that in which they were read.
void AddCurves(const std::vector<const JobProcess*>& processes, std::vector<ReportRank>* compared);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_RANK_CURVES_H_
