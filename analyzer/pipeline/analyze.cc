// SPDX-License-Identifier: Apache-2.0
#include "analyzer/pipeline/analyze.h"

#include <algorithm>
#include <memory>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/base/ordered_work.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/pipeline/findings_source.h"
#include "proto/tool_version.h"

namespace vramtrack {

absl::StatusOr<Report> Analyze(const std::vector<std::string>& paths, const AnalyzeOptions& options) {
  FindingsSource source;
  if (absl::Status opened = source.Open(paths, options); !opened.ok()) return opened;
  AnalyzeOptions each = options;
  if (each.threads == 0) each.threads = std::max(1u, std::thread::hardware_concurrency());
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
  report.warnings.insert(report.warnings.end(), source.warnings().begin(), source.warnings().end());
  // As a summary has them.
  std::sort(unreadable.begin(), unreadable.end());
  for (const std::string& line : unreadable) report.warnings.push_back(absl::StrCat("left out: ", line));
  return report;
}

}  // namespace vramtrack
