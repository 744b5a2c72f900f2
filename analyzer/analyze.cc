// SPDX-License-Identifier: Apache-2.0
#include "analyzer/analyze.h"

#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/job_findings.h"
#include "analyzer/findings/process_findings.h"
#include "analyzer/ingest/trace.h"
#include "proto/tool_version.h"

namespace vramtrack {

absl::StatusOr<Report> Analyze(const std::vector<std::string>& paths, const AnalyzeOptions& options) {
  if (paths.empty()) return absl::InvalidArgumentError("no trace given");
  std::vector<ProcessFindings> processes;
  std::vector<std::string> unreadable;
  for (const std::string& path : paths) {
    absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
    if (!trace.ok()) {
      // One bad file of a job must not hide what the others say.
      if (paths.size() == 1) return trace.status();
      unreadable.emplace_back(trace.status().message());
      if (unreadable.size() == paths.size()) return trace.status();
      continue;
    }
    processes.push_back(FindInProcess(**trace, options));
  }
  Report report = JoinFindings(std::move(processes));
  report.tool_version = kToolVersion;
  for (const std::string& line : unreadable) report.warnings.push_back(absl::StrCat("left out: ", line));
  return report;
}

}  // namespace vramtrack
