// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_RANK_VOTES_H_
#define ANALYZER_JOB_RANK_VOTES_H_

#include <cstddef>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/job/joined_sites.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Says of each of the job's `sites` what its ranks say of its place. Nothing for fewer than two ranks. `joined` is
// finished; `sites` are in its order.
void DescribeAcross(const std::vector<const JobProcess*>& ranks, const JoinedSites& joined,
                    std::vector<ReportSite>* sites);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_RANK_VOTES_H_
