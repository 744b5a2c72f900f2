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

// Says of each of the job's `sites` what its ranks say of its place. Nothing for fewer than two ranks. `joined` is
// finished; `sites` are in its order.
void DescribeAcross(const std::vector<const JobProcess*>& ranks, const JoinedSites& joined,
                    std::vector<ReportSite>* sites);

// What leaks in one rank, with its 95 % interval.
struct RankRate {
  double rate = 0, low = 0, high = 0;
};

// The mean of `rates`, of which there must be one at least, with its 95 % interval, and how far they are apart. The
// variance of the mean is that of the ranks' own intervals or that of the spread between the ranks, whichever is
// larger: ranks are no repetitions of one measurement. Of a single rank it is the interval of its own. Who has the most
// is not filled in.
ReportAcross::Rate PoolRates(const std::vector<RankRate>& rates);

// Within plus and minus this many standard errors are 95 % of Student's distribution. `degrees` is 1 at least.
double StudentFactor(uint64_t degrees);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_RANK_VOTES_H_
