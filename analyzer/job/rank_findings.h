// SPDX-License-Identifier: Apache-2.0
//
// Finds ranks that differ from the others of a job. Ranks do nearly the same, so one that does not is where to look.
#ifndef ANALYZER_JOB_RANK_FINDINGS_H_
#define ANALYZER_JOB_RANK_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/job/joined_sites.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Returns which values are outliers: farther from the median than the usual spread explains (kSpreads times the scaled
// median absolute deviation) and than `floor`. Of two values neither is the usual one: the larger is an outlier if
// they are farther apart than `floor`. `floor` may depend on the median.
std::vector<bool> Outliers(const std::vector<double>& values, const std::function<double(double median)>& floor);

// Returns the figures by which a process's rank is compared.
ReportRank DescribeRank(const ProcessFindings& findings);

// Returns the processes that represent the job's ranks: one for each rank, or, in a job without ranks, each process
// that used a device. Of several with one rank, the one with the most memory counts. `processes` are in the job's
// order.
std::vector<const JobProcess*> ProcessesOfRanks(const std::vector<const JobProcess*>& processes);

// Returns a comparison for each of `ranks`; nothing for fewer than two.
std::vector<ReportRank> CompareRanks(const std::vector<const JobProcess*>& ranks, const JoinedSites::Places& places);

// Makes the memory curve of each rank of a job, small enough to show many of them side by side.

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

#endif  // ANALYZER_JOB_RANK_FINDINGS_H_
