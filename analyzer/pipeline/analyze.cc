// SPDX-License-Identifier: Apache-2.0
#include "analyzer/pipeline/analyze.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "analyzer/base/ordered_work.h"
#include "analyzer/findings/core/analyze_options.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/render/words/finding_words.h"
#include "analyzer/summary/summary.h"
#include "analyzer/verdicts/facts.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

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
    const ProcessIdentity* identity = nullptr;  // in the summary; null: not part of it
  };

  std::optional<Summary> summary_;  // of all summaries together
  std::vector<Process> processes_;
  std::vector<std::string> warnings_;
  size_t traces_ = 0;
};

// A summary holds what was found: what decides that cannot be said any more.
absl::Status CheckOptions(const std::string& path, const AnalyzeOptions& options) {
  const auto refuse = [&path](const char* option) {
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": is a summary; ", option, " is for summarize, which made it"));
  };
  if (!options.step_marks.empty()) return refuse("--step-marks");
  if (!options.categories.empty()) return refuse("--categories");
  if (options.stacks == StackDetail::kRaw) return refuse("--raw-stacks");
  if (options.horizon_steps != AnalyzeOptions{}.horizon_steps) return refuse("--horizon");
  return absl::OkStatus();
}

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

}  // namespace

absl::StatusOr<Report> Analyze(const std::vector<std::string>& paths, const AnalyzeOptions& options) {
  FindingsSource source;
  if (absl::Status opened = source.Open(paths, options); !opened.ok()) return opened;
  AnalyzeOptions each = options;
  each.threads = ProcessorsToUse(options.threads);
  const size_t at_once = std::min(each.threads, source.processes());
  each.threads /= at_once;
  // Processes of a job have most of their modules in common.
  if (source.traces() > 1 && each.symbols.modules == nullptr) each.symbols.modules = std::make_shared<ModuleStore>();
  if (each.progress != nullptr) each.progress->all_files += source.traces();

  OrderedWork<absl::StatusOr<ProcessFindings>> work(source.processes(), at_once,
                                                    [&](size_t process) { return source.Find(process, each); });
  FindingsJoin join;
  std::vector<std::string> unreadable;
  for (size_t i = 0; i < source.processes(); ++i) {
    absl::StatusOr<ProcessFindings> findings = work.Take();
    if (!findings.ok()) {
      // One bad file of a job must not hide what the others say.
      unreadable.emplace_back(findings.status().message());
      if (unreadable.size() == source.processes()) return findings.status();
      continue;
    }
    join.Add(*std::move(findings));
  }
  Report report = join.Finish();
  report.tool_version = kToolVersion;
  DescribeInWords(&report);
  std::vector<std::string> missing = source.warnings();
  // As a summary has them.
  std::sort(unreadable.begin(), unreadable.end());
  for (const std::string& line : unreadable) missing.push_back(absl::StrCat("left out: ", line));
  if (missing.empty()) return report;
  Reason reason = IncompleteRecord(
      missing.size() == 1 ? missing[0] : absl::StrCat(missing[0], ", and ", missing.size() - 1, " more"));
  report.reasons.insert(report.reasons.begin(), ReportReason{reason.id, std::move(reason.sentence)});
  report.warnings.insert(report.warnings.end(), missing.begin(), missing.end());
  return report;
}

}  // namespace vramtrack
