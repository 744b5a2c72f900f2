// SPDX-License-Identifier: Apache-2.0
//
// Finds ranks that differ from the others of a job. Ranks do nearly the same, so one that does not is where to look.
#ifndef ANALYZER_JOB_RANK_FINDINGS_H_
#define ANALYZER_JOB_RANK_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/job/job_process.h"
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

// Returns a comparison for each of `ranks`; nothing for fewer than two. `ids` and `places` are those of the job's
// sites.
std::vector<ReportRank> CompareRanks(const std::vector<const JobProcess*>& ranks, const std::vector<std::string>& ids,
                                     const std::vector<uint32_t>& places);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_RANK_FINDINGS_H_
