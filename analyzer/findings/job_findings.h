// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_JOB_FINDINGS_H_
#define ANALYZER_FINDINGS_JOB_FINDINGS_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/findings/job_devices.h"
#include "analyzer/findings/job_process.h"
#include "analyzer/findings/joined_sites.h"
#include "analyzer/findings/process_findings.h"
#include "analyzer/report.h"

namespace vramtrack {

// Puts the findings of a job's processes together, one by one: of a process nothing stays that the job's report does
// not need, so that it may have ten thousand. The same site in several processes becomes one, with the sum of their
// figures; a device number that several processes use is described by the process that held most of it.
// Thread-compatible.
class FindingsJoin {
 public:
  void Add(ProcessFindings findings);

  // Of all that were added. Nothing can be added later.
  Report Finish();

 private:
  JoinedSites sites_;
  JobDevices devices_;
  std::vector<JobProcess> processes_;
  ReportSteps steps_;  // of the process that has most of them
  std::map<std::string, uint64_t> verdict_counts_;
  std::vector<std::string> warnings_;
  std::set<std::string> known_warnings_;
};

// The same of processes that are there together.
Report JoinFindings(std::vector<ProcessFindings> processes);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_JOB_FINDINGS_H_
