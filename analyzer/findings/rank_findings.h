// SPDX-License-Identifier: Apache-2.0
//
// What tells one rank of a job from the others. Ranks do nearly the same, so the one that does not is where to look.
#ifndef ANALYZER_FINDINGS_RANK_FINDINGS_H_
#define ANALYZER_FINDINGS_RANK_FINDINGS_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "analyzer/findings/process_findings.h"
#include "analyzer/report.h"

namespace vramtrack {

// Values that are unlike the usual one: farther from the median than the spread of most explains (kSpreads times the
// scaled median absolute deviation) and than `floor`. Of two values neither is the usual one: the larger one is named
// if they are farther apart than `floor`. The floor may depend on the median.
std::vector<bool> Outliers(const std::vector<double>& values, const std::function<double(double median)>& floor);

// One for each rank, or, in a job without ranks, for each process that used a device; nothing for fewer than two. Of
// several processes with one rank that with the most memory counts. `site_id`: of a site of a process, both by index.
std::vector<ReportRank> CompareRanks(const std::vector<ProcessFindings>& processes,
                                     const std::function<std::string(size_t process, size_t site)>& site_id);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_RANK_FINDINGS_H_
