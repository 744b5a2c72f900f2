// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/process_pairs.h"

#include <algorithm>
#include <map>
#include <memory>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/summary.h"

namespace vramtrack {
namespace {

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

}  // namespace

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

std::vector<std::pair<const KnownProcess*, const KnownProcess*>> PairUp(const KnownRun& base, const KnownRun& next,
                                                                        std::vector<std::string>* warnings) {
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
    warnings->push_back(absl::StrCat(old_left[i]->path, ": the new run has no such process; it is left out"));
  }
  for (size_t i = both; i < now_left.size(); ++i) {
    warnings->push_back(absl::StrCat(now_left[i]->path, ": the base has no such process; it is left out"));
  }
  return pairs;
}

}  // namespace vramtrack
