// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_PROCESS_H_
#define ANALYZER_JOB_JOB_PROCESS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// What is judged of a site in one process.
enum class Vote : uint8_t { kLeak, kNotEnough, kNoLeak };

// What a process has to say of a site of the job. There may be a million of them: no text, no frames.
struct SiteRow {
  uint32_t site = 0;  // index of the job's sites
  Vote vote = Vote::kNoLeak;
  bool leads = false;    // a leak that is no part of another
  bool per_step = true;  // what its rates are per; otherwise per amount allocated
  double rate_bytes_per_step = 0, rate_ci_low = 0, rate_ci_high = 0, rate_objects_per_step = 0;
  double rate_bytes_per_second = 0;
  double leak_bytes_per_step = 0, leak_ci_low = 0, leak_ci_high = 0;  // of a leak that it leads, as a whole
};

// What the job's report needs of a process that has been added, beside what is joined at once.
struct JobProcess {
  ReportProcess process;
  ReportRank rank;                       // without its curve
  std::optional<ReportRankCurve> curve;  // none: it used no device
  std::vector<SiteRow> sites;            // in the order of the process's own
  // Their sites are indices of the job's.
  std::vector<ReportOom> oom;
};

// The order of a job's processes, which does not depend on that in which they are read: by rank, those without one
// last, then by number, and by what else tells them apart.
bool IsBefore(const JobProcess& a, const JobProcess& b);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_PROCESS_H_
