// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FINDINGS_TESTING_FIND_IN_JOB_H_
#define ANALYZER_FINDINGS_TESTING_FIND_IN_JOB_H_

#include <string>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/testing/test_trace.h"
#include "analyzer/model/process_findings.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {

// What the analyzer finds in a job that was told to its end.
inline ProcessFindings FindInJob(JobBuilder* job, const AnalyzeOptions& options = {}) {
  const TestTrace trace(job->Finish());
  return FindInProcess(*trace, options);
}

// The ids of why it is not called clean.
inline std::vector<std::string> ReasonsOf(const ProcessFindings& findings) {
  std::vector<std::string> ids;
  for (const ReportReason& reason : findings.reasons) ids.push_back(reason.id);
  return ids;
}

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_TESTING_FIND_IN_JOB_H_
