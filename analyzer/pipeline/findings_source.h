// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_PIPELINE_FINDINGS_SOURCE_H_
#define ANALYZER_PIPELINE_FINDINGS_SOURCE_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {

// The processes of a job, whose traces or summaries are given. Find is thread-safe, the rest is thread-compatible.
class FindingsSource {
 public:
  // Reads the summaries. The error is one line: a path that cannot be read if it is the only one, or an option that is
  // for traces.
  absl::Status Open(const std::vector<std::string>& paths, const AnalyzeOptions& options);

  size_t processes() const { return processes_.size(); }
  size_t traces() const { return traces_; }
  // Of a process, by index. `options` are as Open had them, but for threads and progress. The error is one line.
  absl::StatusOr<ProcessFindings> Find(size_t process, const AnalyzeOptions& options) const;
  // What is wrong with summaries, one line each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct Process {
    std::string path;                           // of its trace
    const ProcessIdentity* identity = nullptr;  // in the summary; null: it is no part of that
  };

  std::optional<Summary> summary_;  // of all summaries together
  std::vector<Process> processes_;
  std::vector<std::string> warnings_;
  size_t traces_ = 0;
};

}  // namespace vramtrack

#endif  // ANALYZER_PIPELINE_FINDINGS_SOURCE_H_
