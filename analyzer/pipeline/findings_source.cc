// SPDX-License-Identifier: Apache-2.0
#include "analyzer/pipeline/findings_source.h"

#include <memory>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/summary_file.h"

namespace vramtrack {
namespace {

// A summary holds what was found: what decides that cannot be said any more.
absl::Status CheckOptions(const std::string& path, const AnalyzeOptions& options) {
  const auto refuse = [&path](const char* option) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is a summary; ", option, " is for summarize, which made it"));
  };
  if (!options.step_marks.empty()) return refuse("--step-marks");
  if (options.stacks == StackDetail::kRaw) return refuse("--raw-stacks");
  if (options.horizon_steps != AnalyzeOptions{}.horizon_steps) return refuse("--horizon");
  return absl::OkStatus();
}

}  // namespace

absl::Status FindingsSource::Open(const std::vector<std::string>& paths, const AnalyzeOptions& options) {
  if (paths.empty()) return absl::InvalidArgumentError("no trace given");
  for (const std::string& path : paths) {
    if (!IsSummaryFile(path)) {
      processes_.push_back({path});
      ++traces_;
      continue;
    }
    if (absl::Status fits = CheckOptions(path, options); !fits.ok()) return fits;
    std::string damage;
    absl::StatusOr<Summary> summary = ReadSummaryFile(path, &damage);
    if (!summary.ok() && paths.size() == 1) return summary.status();
    if (!summary.ok()) damage = absl::StrCat("left out: ", summary.status().message());
    if (!damage.empty()) warnings_.push_back(damage);
    if (!summary.ok()) continue;
    // One process is one, in however many summaries it is.
    if (!summary_) summary_.emplace();
    summary_->Join(*summary);
  }
  if (summary_) {
    for (std::string& line : summary_->Lacks()) warnings_.push_back(std::move(line));
    for (const auto& [identity, record] : summary_->records()) processes_.push_back({"", &identity});
  }
  if (processes_.empty()) {
    return absl::InvalidArgumentError(warnings_.empty() ? paths[0] + ": a summary of no process" : warnings_[0]);
  }
  return absl::OkStatus();
}

absl::StatusOr<ProcessFindings> FindingsSource::Find(size_t process, const AnalyzeOptions& options) const {
  const Process& wanted = processes_[process];
  if (wanted.identity != nullptr) {
    absl::StatusOr<ProcessSummary> summary =
        summary_->Decode(*wanted.identity, summary_->records().at(*wanted.identity));
    if (!summary.ok()) return summary.status();
    return std::move(summary->findings);
  }
  if (options.known != nullptr) {
    if (std::optional<ProcessFindings> found = options.known->Take(wanted.path)) return *std::move(found);
  }
  const absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(wanted.path);
  if (!trace.ok()) return trace.status();
  ProcessFindings findings = FindInProcess(**trace, options);
  if (options.progress != nullptr) ++options.progress->files;
  return findings;
}

}  // namespace vramtrack
