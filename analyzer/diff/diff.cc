// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/diff.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "analyzer/base/ordered_work.h"
#include "analyzer/diff/compared_process.h"
#include "analyzer/diff/process_diff.h"
#include "analyzer/diff/process_pairs.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/process_summary.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

// A trace, or what a summary says of one.
struct Source {
  std::unique_ptr<Trace> trace;
  std::optional<ProcessSummary> summary;
};

absl::StatusOr<Source> Open(const KnownRun& run, const KnownProcess& process) {
  Source source;
  if (!process.identity) {
    absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(process.path);
    if (!trace.ok()) return trace.status();
    source.trace = *std::move(trace);
    return source;
  }
  absl::StatusOr<ProcessSummary> summary =
      run.summary.Decode(*process.identity, run.summary.records().at(*process.identity));
  if (!summary.ok()) return summary.status();
  source.summary = *std::move(summary);
  return source;
}

absl::StatusOr<ProcessDiff> Compare(const KnownRun& base, const KnownProcess& old, const KnownRun& next,
                                    const KnownProcess& now, const DiffOptions& options) {
  absl::StatusOr<Source> base_source = Open(base, old), next_source = Open(next, now);
  if (!base_source.ok()) return base_source.status();
  if (!next_source.ok()) return next_source.status();
  if (base_source->trace && next_source->trace) {
    return CompareProcesses(*base_source->trace, *next_source->trace, options);
  }
  AnalyzeOptions analyze = options.analyze;
  for (const Source* source : {&*base_source, &*next_source}) {
    // Where windows stand for steps, those of a trace can be made as large as the summary's.
    if (source->summary) analyze.window_bytes = source->summary->profile.window_bytes;
  }
  const auto make = [&analyze](const std::string& path, Source* source) {
    if (source->trace) return std::make_unique<ComparedProcess>(*source->trace, analyze);
    ProcessSummary& summary = *source->summary;
    return std::make_unique<ComparedProcess>(FactsOfSummary(path, summary.findings, summary.profile),
                                             std::move(summary.profile));
  };
  const std::unique_ptr<ComparedProcess> before = make(old.path, &*base_source), after = make(now.path, &*next_source);
  return CompareProcesses(before.get(), after.get(), options);
}

}  // namespace

absl::StatusOr<DiffReport> Diff(const std::vector<std::string>& base_paths, const std::vector<std::string>& next_paths,
                                const DiffOptions& options) {
  const absl::StatusOr<KnownRun> base = FindProcesses(base_paths), next = FindProcesses(next_paths);
  for (const absl::StatusOr<KnownRun>* run : {&base, &next}) {
    if (!run->ok()) return run->status();
    if ((*run)->summary.records().empty()) continue;
    if (!options.analyze.step_marks.empty()) {
      return absl::InvalidArgumentError("--step-marks is for traces: a summary has been made with them");
    }
    if (!options.analyze.categories.empty()) {
      return absl::InvalidArgumentError("--categories is for traces: a summary has been made with them");
    }
  }
  std::vector<std::string> warnings = base->unreadable;
  warnings.insert(warnings.end(), next->unreadable.begin(), next->unreadable.end());
  DiffOptions each = options;
  each.analyze.threads = ProcessorsToUse(options.analyze.threads);
  // Both runs, and all processes of a job, have most of their modules in common.
  if (each.analyze.symbols.modules == nullptr) each.analyze.symbols.modules = std::make_shared<ModuleStore>();
  DiffReport report;
  DiffSiteIds base_sites, new_sites;
  bool first = true;
  for (const auto& [old, now] : PairUp(*base, *next, &warnings)) {
    absl::StatusOr<ProcessDiff> one = Compare(*base, *old, *next, *now, each);
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
