// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/diff.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "analyzer/base/ordered_work.h"
#include "analyzer/diff/compared_process.h"
#include "analyzer/diff/process_diff.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

// A process of a run, before it is analysed.
struct KnownProcess {
  std::string path;  // path of its trace, or of a summary that contains it
  std::optional<int> rank;
  std::vector<std::string> command;
  uint64_t start = 0;                       // in the same unit as for the other processes of the run
  std::optional<ProcessIdentity> identity;  // its key in KnownRun::summary; nullopt: it has a trace
};

struct KnownRun {
  std::vector<KnownProcess> processes;
  Summary summary;                      // all summaries joined
  std::vector<std::string> unreadable;  // one line each
};

absl::Status AddTrace(const std::string& path, KnownRun* run) {
  const absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
  if (!trace.ok()) return trace.status();
  const TracedProcess& process = (*trace)->definitions().process;
  run->processes.push_back({path, process.rank, process.command, (*trace)->clock().start_realtime_ns(), std::nullopt});
  return absl::OkStatus();
}

absl::Status AddSummary(const std::string& path, std::map<ProcessIdentity, std::string>* paths, KnownRun* run) {
  std::string damage;
  const absl::StatusOr<Summary> summary = ReadSummaryFile(path, &damage);
  if (!summary.ok()) return summary.status();
  if (!damage.empty()) run->unreadable.push_back(damage);
  for (const auto& [identity, record] : summary->records()) paths->emplace(identity, path);
  run->summary.Join(*summary);
  return absl::OkStatus();
}

// Finds the processes at `paths`. The error is one line; nothing could be read then.
absl::StatusOr<KnownRun> FindProcesses(const std::vector<std::string>& paths) {
  if (paths.empty()) return absl::InvalidArgumentError("no trace given");
  KnownRun run;
  std::map<ProcessIdentity, std::string> path_of;  // of one of the summaries that it is in
  size_t unreadable = 0;
  for (const std::string& path : paths) {
    const absl::Status added = IsSummaryFile(path) ? AddSummary(path, &path_of, &run) : AddTrace(path, &run);
    if (added.ok()) continue;
    run.unreadable.push_back(absl::StrCat("left out: ", added.message()));
    if (++unreadable == paths.size()) return added;
  }
  for (const auto& [identity, record] : run.summary.records()) {
    const absl::StatusOr<ProcessSummary> process = run.summary.Decode(identity, record);
    if (!process.ok()) return process.status();
    const ReportProcess& known = process->findings.process;
    run.processes.push_back({path_of[identity], known.rank, known.command, identity.start_unix_ns, identity});
  }
  if (run.processes.empty()) return absl::InvalidArgumentError(paths[0] + ": a summary of no process");
  return run;
}

// Pairs processes by rank. Processes without a rank are paired by their command, in the order in which they started.
// Those without a counterpart are lines of what the other run lacks.
std::vector<std::pair<const KnownProcess*, const KnownProcess*>> PairUp(const KnownRun& base, const KnownRun& next,
                                                                        std::vector<std::string>* base_lacks,
                                                                        std::vector<std::string>* next_lacks) {
  using Key = std::pair<int, std::vector<std::string>>;
  const auto by_key = [](const KnownRun& run) {
    std::map<Key, std::vector<const KnownProcess*>> sorted;
    for (const KnownProcess& process : run.processes) {
      const bool ranked = process.rank.has_value();
      sorted[{ranked ? *process.rank : -1, ranked ? std::vector<std::string>() : process.command}].push_back(&process);
    }
    for (auto& [key, list] : sorted) {
      std::stable_sort(list.begin(), list.end(), [](const KnownProcess* a, const KnownProcess* b) {
        return std::tie(a->start, a->path) < std::tie(b->start, b->path);
      });
    }
    return sorted;
  };
  std::map<Key, std::vector<const KnownProcess*>> olds = by_key(base), nows = by_key(next);
  std::vector<std::pair<const KnownProcess*, const KnownProcess*>> pairs;
  std::vector<const KnownProcess*> old_left, now_left;
  for (auto& [key, list] : olds) {
    std::vector<const KnownProcess*>& others = nows[key];
    for (size_t i = 0; i < list.size(); ++i) {
      if (i < others.size()) {
        pairs.push_back({list[i], others[i]});
      } else {
        old_left.push_back(list[i]);
      }
    }
    others.erase(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(std::min(list.size(), others.size())));
  }
  for (auto& [key, list] : nows) now_left.insert(now_left.end(), list.begin(), list.end());
  // What is left runs other commands, or has other ranks: in the order in which they began.
  const auto earlier = [](const KnownProcess* a, const KnownProcess* b) {
    return std::tie(a->start, a->path) < std::tie(b->start, b->path);
  };
  std::sort(old_left.begin(), old_left.end(), earlier);
  std::sort(now_left.begin(), now_left.end(), earlier);
  const size_t both = std::min(old_left.size(), now_left.size());
  for (size_t i = 0; i < both; ++i) pairs.push_back({old_left[i], now_left[i]});
  for (size_t i = both; i < old_left.size(); ++i) {
    next_lacks->push_back(absl::StrCat(old_left[i]->path, ": the new run has no such process; it is left out"));
  }
  for (size_t i = both; i < now_left.size(); ++i) {
    base_lacks->push_back(absl::StrCat(now_left[i]->path, ": the base has no such process; it is left out"));
  }
  return pairs;
}

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
    return std::make_unique<ComparedProcess>(FactsOfSummary(path, summary.findings), std::move(summary.profile));
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
      return absl::InvalidArgumentError("--step-marks is for traces: a summary already contains its steps");
    }
    if (!options.analyze.categories.empty()) {
      return absl::InvalidArgumentError("--categories is for traces: a summary already contains its steps");
    }
  }
  std::vector<std::string> base_lacks = base->unreadable, next_lacks = next->unreadable;
  DiffOptions each = options;
  each.analyze.threads = ProcessorsToUse(options.analyze.threads);
  // Both runs, and all processes of a job, have most of their modules in common.
  if (each.analyze.symbols.modules == nullptr) each.analyze.symbols.modules = std::make_shared<ModuleStore>();
  DiffReport report;
  DiffSiteIds base_sites, new_sites;
  bool first = true;
  for (const auto& [old, now] : PairUp(*base, *next, &base_lacks, &next_lacks)) {
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
  // What one of the runs lacks was not compared.
  for (auto& [lines, side] : {std::pair{&next_lacks, &report.next}, std::pair{&base_lacks, &report.base}}) {
    if (!lines->empty() && side->incomplete.empty()) side->incomplete = lines->front();
    report.warnings.insert(report.warnings.begin(), lines->begin(), lines->end());
  }
  return report;
}

}  // namespace vramtrack
