// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_SUMMARY_PROCESS_SUMMARY_H_
#define ANALYZER_SUMMARY_PROCESS_SUMMARY_H_

#include <cstdint>
#include <string>
#include <tuple>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/profile/step_profile.h"

namespace vramtrack {

// Identifies one process worldwide.
struct ProcessIdentity {
  std::string host;
  uint64_t start_unix_ns = 0;  // when its recording started
  uint32_t pid = 0;

  bool operator<(const ProcessIdentity& other) const {
    return std::tie(host, start_unix_ns, pid) < std::tie(other.host, other.start_unix_ns, other.pid);
  }
  bool operator==(const ProcessIdentity& other) const {
    return std::tie(host, start_unix_ns, pid) == std::tie(other.host, other.start_unix_ns, other.pid);
  }
};

// How much of a process's curves is kept. A summary of more processes keeps less of each.
enum class Detail : uint32_t { kFull = 0, kJob = 1, kFleet = 2 };

// The data of one process in a summary.
struct ProcessSummary {
  ProcessIdentity identity;
  std::string tool_version;
  ProcessFindings findings;
  StepProfile profile;  // the data with which other runs are compared
};

// Downsamples curves, pair by pair, and drops data that only the report of a single process shows. Reducing in two
// steps gives the same as in one, so the order in which summaries are joined does not matter. Figures of sites and
// devices do not change.
void ReduceTo(Detail detail, ProcessSummary* process);

// Returns the detail with this name: "full", "job" or "fleet".
Detail DetailNamed(const std::string& name);

// Summarizes the process of the trace at `path`. The error is one line.
absl::StatusOr<ProcessSummary> SummarizeProcess(const std::string& path, const AnalyzeOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_PROCESS_SUMMARY_H_
