// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_RANK_VOTES_H_
#define ANALYZER_JOB_RANK_VOTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/job/job_process.h"
#include "analyzer/job/joined_sites.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Describes for each of the job's `sites` the verdicts of the ranks on its place. Does nothing for fewer than two
// ranks. `joined` is finished; `sites` are in its order.
void DescribeAcross(const std::vector<const JobProcess*>& ranks, const JoinedSites& joined,
                    std::vector<ReportSite>* sites);

// The growth rate of a leak in one rank, with its 95 % interval.
struct RankRate {
  double rate = 0, low = 0, high = 0;
};

// Returns the mean of `rates` with its 95 % interval, and their spread. `rates` must not be empty. The variance of the
// mean comes from the ranks' own intervals or from the spread between ranks, whichever is larger, as ranks do not
// repeat one measurement. For a single rank it is the rank's own interval. Does not fill in which rank has the most.
ReportAcross::Rate PoolRates(const std::vector<RankRate>& rates);

// Returns the number of standard errors on each side of the mean that contain 95 % of Student's distribution.
// `degrees` is at least 1.
double StudentFactor(uint64_t degrees);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_RANK_VOTES_H_
