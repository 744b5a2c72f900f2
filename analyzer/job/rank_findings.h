// SPDX-License-Identifier: Apache-2.0
//
// What tells one rank of a job from the others. Ranks do nearly the same, so the one that does not is where to look.
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

// Values that are unlike the usual one: farther from the median than the spread of most explains (kSpreads times the
// scaled median absolute deviation) and than `floor`. Of two values neither is the usual one: the larger one is named
// if they are farther apart than `floor`. The floor may depend on the median.
std::vector<bool> Outliers(const std::vector<double>& values, const std::function<double(double median)>& floor);

// What a process's rank is compared by.
ReportRank DescribeRank(const ProcessFindings& findings);

// Which of a job's processes, given in their order, stand for its ranks: one for each rank, or, in a job without ranks,
// each that used a device. Of several with one rank that with the most memory counts.
std::vector<const JobProcess*> ProcessesOfRanks(const std::vector<const JobProcess*>& processes);

// One for each of `ranks`; nothing for fewer than two. `ids` and `places` are those of the job's sites.
std::vector<ReportRank> CompareRanks(const std::vector<const JobProcess*>& ranks, const std::vector<std::string>& ids,
                                     const std::vector<uint32_t>& places);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_RANK_FINDINGS_H_
