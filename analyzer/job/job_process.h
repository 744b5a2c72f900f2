// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_PROCESS_H_
#define ANALYZER_JOB_JOB_PROCESS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <tuple>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// The verdict on a site in one process.
enum class Vote : uint8_t { kLeak, kNotEnough, kNoLeak };

// The figures of one process for a site of the job. A job may have a million of them, so they have no text and no
// frames.
struct SiteRow {
  ReportSiteIndex site;  // among the sites of the job
  Vote vote = Vote::kNoLeak;
  bool leads = false;    // a leak that is not part of another one
  bool per_step = true;  // its rates are per step; otherwise per amount allocated
  double rate_bytes_per_step = 0, rate_ci_low = 0, rate_ci_high = 0, rate_objects_per_step = 0;
  double rate_bytes_per_second = 0;
  double leak_bytes_per_step = 0, leak_ci_low = 0, leak_ci_high = 0;  // of the whole leak, if the site leads one
};

// What the job's report keeps of a process, in addition to what is joined at once.
struct JobProcess {
  ReportProcess process;
  ReportRank rank;                       // without its curve
  std::optional<ReportRankCurve> curve;  // none if it used no device
  std::vector<SiteRow> sites;            // in the order of the process's own sites
  // Failed allocations; their sites are indices of the job's sites.
  std::vector<ReportOom> oom;
  std::vector<ReportWalk> walks;
};

// Returns whether `a` precedes `b` in the job's order, which does not depend on the order of reading: by rank,
// processes without one last, then by process number, and by further facts that distinguish them.
inline bool IsBefore(const JobProcess& a, const JobProcess& b) {
  const auto key = [](const ReportProcess& process) {
    return std::make_tuple(!process.rank.has_value(), process.rank.value_or(0), process.pid, process.parent_pid,
                           std::cref(process.command), process.events, process.lost_events, process.duration_s);
  };
  return key(a.process) < key(b.process);
}

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_PROCESS_H_
