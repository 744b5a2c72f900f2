// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/diff.h"

#include <algorithm>
#include <map>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/diff/join_diffs.h"
#include "analyzer/diff/process_diff.h"
#include "analyzer/ingest/trace.h"
#include "proto/tool_version.h"

namespace vramtrack {
namespace {

// A process of a run, before its trace is read.
struct Process {
  std::string path;
  std::optional<int> rank;
  std::vector<std::string> command;
  uint64_t start = 0;
};

struct Run {
  std::vector<Process> processes;
  std::vector<std::string> unreadable;
};

absl::StatusOr<Run> Survey(const std::vector<std::string>& paths) {
  if (paths.empty()) return absl::InvalidArgumentError("no trace given");
  Run run;
  for (const std::string& path : paths) {
    absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
    if (!trace.ok()) {
      run.unreadable.push_back(absl::StrCat("left out: ", trace.status().message()));
      if (run.unreadable.size() == paths.size()) return trace.status();
      continue;
    }
    const TracedProcess& process = (*trace)->definitions().process;
    run.processes.push_back({path, process.rank, process.command, (*trace)->clock().start_ticks()});
  }
  return run;
}

// By rank; those without one by what they run, in the order in which they began.
std::vector<std::pair<const Process*, const Process*>> PairUp(const Run& base, const Run& next,
                                                              std::vector<std::string>* warnings) {
  using Key = std::pair<int, std::vector<std::string>>;
  const auto by_key = [](const Run& run) {
    std::map<Key, std::vector<const Process*>> sorted;
    for (const Process& process : run.processes) {
      const bool ranked = process.rank.has_value();
      sorted[{ranked ? *process.rank : -1, ranked ? std::vector<std::string>() : process.command}].push_back(&process);
    }
    for (auto& [key, list] : sorted) {
      std::stable_sort(list.begin(), list.end(), [](const Process* a, const Process* b) {
        return std::tie(a->start, a->path) < std::tie(b->start, b->path);
      });
    }
    return sorted;
  };
  std::map<Key, std::vector<const Process*>> olds = by_key(base), nows = by_key(next);
  std::vector<std::pair<const Process*, const Process*>> pairs;
  std::vector<const Process*> old_left, now_left;
  for (auto& [key, list] : olds) {
    std::vector<const Process*>& others = nows[key];
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
  const auto earlier = [](const Process* a, const Process* b) {
    return std::tie(a->start, a->path) < std::tie(b->start, b->path);
  };
  std::sort(old_left.begin(), old_left.end(), earlier);
  std::sort(now_left.begin(), now_left.end(), earlier);
  const size_t both = std::min(old_left.size(), now_left.size());
  for (size_t i = 0; i < both; ++i) pairs.push_back({old_left[i], now_left[i]});
  for (size_t i = both; i < old_left.size(); ++i) {
    warnings->push_back(absl::StrCat(old_left[i]->path, ": the new run has no such process; it is left out"));
  }
  for (size_t i = both; i < now_left.size(); ++i) {
    warnings->push_back(absl::StrCat(now_left[i]->path, ": the base has no such process; it is left out"));
  }
  return pairs;
}

}  // namespace

absl::StatusOr<DiffReport> Diff(const std::vector<std::string>& base_paths, const std::vector<std::string>& next_paths,
                                const DiffOptions& options) {
  const absl::StatusOr<Run> base = Survey(base_paths), next = Survey(next_paths);
  for (const absl::StatusOr<Run>* run : {&base, &next}) {
    if (!run->ok()) return run->status();
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
    absl::StatusOr<std::unique_ptr<Trace>> base_trace = Trace::Open(old->path), next_trace = Trace::Open(now->path);
    if (!base_trace.ok()) return base_trace.status();
    if (!next_trace.ok()) return next_trace.status();
    ProcessDiff one = CompareProcesses(**base_trace, **next_trace, each);
    base_sites.Join(std::move(one.base_sites));
    new_sites.Join(std::move(one.new_sites));
    if (first) {
      report = std::move(one.report);
    } else {
      JoinDiffs(std::move(one.report), &report);
    }
    first = false;
  }
  NameSites(base_sites, new_sites, &report);
  report.tool_version = kToolVersion;
  report.warnings.insert(report.warnings.begin(), warnings.begin(), warnings.end());
  return report;
}

}  // namespace vramtrack
