// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_JOB_JOB_FINDINGS_H_
#define ANALYZER_JOB_JOB_FINDINGS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/job/job_devices.h"
#include "analyzer/job/job_process.h"
#include "analyzer/job/job_releases.h"
#include "analyzer/job/job_warnings.h"
#include "analyzer/job/joined_sites.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Puts the findings of a job's processes together, one by one: of a process nothing stays that the job's report does
// not need, so that it may have ten thousand. The same site in several processes becomes one, with the sum of their
// figures; a device number that several processes use is described by the process that held most of it.
// The order in which they are added makes no difference, but for processes that are alike in all that IsBefore looks
// at. Thread-compatible.
class FindingsJoin {
 public:
  void Add(ProcessFindings findings);

  // Of all that were added. Nothing can be added later.
  Report Finish();

 private:
  void KeepFirstFailures();

  std::deque<JobProcess> processes_;  // that stay where they are
  JoinedSites sites_;
  JobDevices devices_;
  JobReleases releases_;
  JobWarnings warnings_, unsure_;
  ReportSteps steps_;  // of the process that has most of them
  const JobProcess* steps_of_ = nullptr;
  std::map<std::string, uint64_t> verdict_counts_;
  std::optional<uint64_t> further_steps_needed_;
  size_t failures_ = 0, failures_kept_ = 0;  // allocations for which there was no memory
};

// The same of processes that are there together.
Report JoinFindings(std::vector<ProcessFindings> processes);

}  // namespace vramtrack

#endif  // ANALYZER_JOB_JOB_FINDINGS_H_
