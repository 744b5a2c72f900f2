// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/diff.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include "analyzer/diff/compared_summary.h"
#include "analyzer/diff/join_diffs.h"
#include "analyzer/diff/process_diff.h"
#include "analyzer/diff/process_pairs.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/summarize.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

absl::StatusOr<ProcessSummary> SummaryOf(const KnownRun& run, const KnownProcess& process,
                                         const AnalyzeOptions& options) {
  if (!process.identity) return SummarizeProcess(process.path, options);
  return run.summary.Decode(*process.identity, run.summary.records().at(*process.identity));
}

absl::StatusOr<ProcessDiff> CompareTraces(const std::string& base, const std::string& next,
                                          const DiffOptions& options) {
  const absl::StatusOr<std::unique_ptr<Trace>> base_trace = Trace::Open(base), next_trace = Trace::Open(next);
  if (!base_trace.ok()) return base_trace.status();
  if (!next_trace.ok()) return next_trace.status();
  return CompareProcesses(**base_trace, **next_trace, options);
}

// Of which one has no trace: nothing can be replayed again to look for what the other does, so that of both only so
// much is taken as a summary holds.
absl::StatusOr<ProcessDiff> CompareSummaries(const KnownRun& base, const KnownProcess& old, const KnownRun& next,
                                             const KnownProcess& now, const DiffOptions& options) {
  AnalyzeOptions analyze = options.analyze;
  std::optional<absl::StatusOr<ProcessSummary>> sides[2];
  const auto take = [&](bool summaries) {
    if (old.identity.has_value() == summaries) sides[0] = SummaryOf(base, old, analyze);
    if (now.identity.has_value() == summaries) sides[1] = SummaryOf(next, now, analyze);
  };
  take(/*summaries=*/true);
  for (const auto& side : sides) {
    if (!side) continue;
    if (!side->ok()) return side->status();
    // Where windows stand for steps, those of a trace can be made as large as the summary's.
    analyze.window_bytes = (*side)->profile.window_bytes;
  }
  take(/*summaries=*/false);
  for (const auto& side : sides) {
    if (!side->ok()) return side->status();
  }
  ProcessSummary &of_base = **sides[0], &of_next = **sides[1];
  ComparedSummary before(old.path, of_base.findings, std::move(of_base.profile));
  ComparedSummary after(now.path, of_next.findings, std::move(of_next.profile));
  return CompareProcesses(&before, &after, options);
}

}  // namespace

absl::StatusOr<DiffReport> Diff(const std::vector<std::string>& base_paths, const std::vector<std::string>& next_paths,
                                const DiffOptions& options) {
  const absl::StatusOr<KnownRun> base = FindProcesses(base_paths), next = FindProcesses(next_paths);
  for (const absl::StatusOr<KnownRun>* run : {&base, &next}) {
    if (!run->ok()) return run->status();
    if (options.analyze.step_marks.empty() || (*run)->summary.records().empty()) continue;
    return absl::InvalidArgumentError("--step-marks is for traces: a summary has been made with them");
  }
  std::vector<std::string> warnings = base->unreadable;
  warnings.insert(warnings.end(), next->unreadable.begin(), next->unreadable.end());
  DiffOptions each = options;
  if (each.analyze.threads == 0) each.analyze.threads = std::max(1u, std::thread::hardware_concurrency());
  // Both runs, and all processes of a job, have most of their modules in common.
  if (each.analyze.symbols.modules == nullptr) each.analyze.symbols.modules = std::make_shared<ModuleStore>();
  DiffReport report;
  SiteIds base_sites, new_sites;
  bool first = true;
  for (const auto& [old, now] : PairUp(*base, *next, &warnings)) {
    absl::StatusOr<ProcessDiff> one = old->identity || now->identity ? CompareSummaries(*base, *old, *next, *now, each)
                                                                     : CompareTraces(old->path, now->path, each);
    if (!one.ok()) return one.status();
    base_sites.Join(std::move(one->base_sites));
    new_sites.Join(std::move(one->new_sites));
    if (first) {
      report = std::move(one->report);
    } else {
      JoinDiffs(std::move(one->report), &report);
    }
    first = false;
  }
  NameSites(base_sites, new_sites, &report);
  report.tool_version = kToolVersion;
  report.warnings.insert(report.warnings.begin(), warnings.begin(), warnings.end());
  return report;
}

}  // namespace vramtrack
