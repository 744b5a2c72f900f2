// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/trace_choice.h"

#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "analyzer/ingest/journal_recovery.h"
#include "analyzer/ingest/mapped_file.h"
#include "analyzer/ingest/tick_clock.h"
#include "analyzer/ingest/trace.h"
#include "proto/block_decoder.h"
#include "proto/frame_scanner.h"
#include "proto/pbf_reader.h"

namespace vramtrack {
namespace {

// A process says who it is in its first block, or in a journal where it did not get that far.
// Of a job of thousands, as little as possible is read twice.
constexpr size_t kBeginningBytes[] = {256 << 10, 4 << 20};
constexpr size_t kMostTimes = 5;

struct Origin {
  std::string run_id;
  uint64_t start_ns = 0;  // since 1970; 0: not known
};

// None if `encoded`, a Definitions message, does not define a process.
std::optional<std::string> RunIdIn(std::string_view encoded) {
  std::optional<std::string> run_id;
  try {
    protozero::pbf_reader definitions(encoded.data(), encoded.size());
    while (definitions.next(schema::definitions_field::process)) {
      run_id.emplace();
      protozero::pbf_reader process = definitions.get_message();
      while (process.next(schema::process_field::run_id)) run_id = process.get_string();
    }
  } catch (const protozero::exception&) {
    // Damaged from there on.
  }
  return run_id;
}

std::optional<std::string> RunIdInBlock(std::string_view payload) {
  BlockHeader header;
  if (!BlockDecoder::ReadHeader(payload, &header)) return std::nullopt;
  return RunIdIn(header.definitions);
}

// None if the process is not defined in `beginning`, that of a trace.
std::optional<Origin> FindOrigin(std::string_view beginning) {
  TraceLayout layout;
  if (!ScanTrace(beginning, &layout).empty()) return std::nullopt;
  const uint64_t start_ns = TickClock(layout.counters).start_realtime_ns();
  for (const FrameRef& block : layout.blocks) {
    if (std::optional<std::string> run_id = RunIdInBlock(block.payload)) return Origin{*run_id, start_ns};
  }
  JournalRecovery recovery;
  for (const FrameRef& journal : layout.journals) {
    uint64_t lost_bytes = 0;
    std::string lost;
    const std::string payload = recovery.Recover(journal.payload, &lost_bytes, &lost);
    if (payload.empty()) continue;
    if (std::optional<std::string> run_id = RunIdInBlock(payload)) return Origin{*run_id, start_ns};
  }
  return std::nullopt;
}

// None if the file is not a trace, cannot be read, or no longer says which process it belongs to.
std::optional<Origin> ReadOrigin(const std::string& path) {
  {
    const absl::StatusOr<MappedFile> file = MappedFile::Open(path);
    if (!file.ok()) return std::nullopt;
    for (const size_t bytes : kBeginningBytes) {
      if (std::optional<Origin> origin = FindOrigin(file->bytes().substr(0, bytes))) return origin;
    }
  }
  // One of bounded size has it in its checkpoint.
  const absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Open(path);
  if (!trace.ok() || (*trace)->definitions().process.pid == 0) return std::nullopt;
  return Origin{(*trace)->definitions().process.run_id, (*trace)->clock().start_realtime_ns()};
}

// "14:02 UTC", with the day where that is not the chosen run's.
std::string TimeOf(uint64_t start_ns, uint64_t chosen_ns) {
  if (start_ns == 0) return "an unknown time";
  const absl::Time start = absl::FromUnixNanos(static_cast<int64_t>(start_ns));
  const absl::Time chosen = absl::FromUnixNanos(static_cast<int64_t>(chosen_ns));
  const absl::TimeZone utc = absl::UTCTimeZone();
  const bool same_day = absl::ToCivilDay(start, utc) == absl::ToCivilDay(chosen, utc);
  return absl::FormatTime(same_day ? "%H:%M UTC" : "%Y-%m-%d %H:%M UTC", start, utc);
}

}  // namespace

TraceRuns SortIntoRuns(const std::vector<std::string>& traces) {
  std::map<std::string, TraceRun> by_id;
  TraceRuns sorted;
  for (const std::string& trace : traces) {
    if (!HasBegun(trace)) continue;
    const std::optional<Origin> origin = ReadOrigin(trace);
    if (!origin) {
      sorted.unreadable.push_back(trace);
      continue;
    }
    TraceRun& run = by_id[origin->run_id];
    if (run.paths.empty() || origin->start_ns < run.start_ns) run.start_ns = origin->start_ns;
    run.run_id = origin->run_id;
    run.paths.push_back(trace);
  }
  for (auto& [id, run] : by_id) sorted.runs.push_back(std::move(run));
  // Equal ones keep the order of their ids.
  std::stable_sort(sorted.runs.begin(), sorted.runs.end(),
                   [](const TraceRun& a, const TraceRun& b) { return a.start_ns > b.start_ns; });
  return sorted;
}

std::time_t WhenRecorded(const std::vector<std::string>& traces) {
  std::time_t recorded = 0;
  for (const std::string& trace : traces) {
    struct stat info;
    if (stat(trace.c_str(), &info) == 0 && (recorded == 0 || info.st_mtime < recorded)) recorded = info.st_mtime;
  }
  return recorded;
}

bool HasBegun(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0 || info.st_size != static_cast<off_t>(kHeaderBytes)) return true;
  const absl::StatusOr<MappedFile> file = MappedFile::Open(path);
  TraceLayout layout;
  if (!file.ok() || !ScanTrace(file->bytes(), &layout).empty()) return true;
  return (layout.counters[schema::COUNTER_CONTROL] & schema::CONTROL_IDLE) == 0;
}

absl::StatusOr<TraceChoice> ChooseTraces(const std::string& path, bool all_runs) {
  absl::StatusOr<std::vector<std::string>> listed = ListTraces(path);
  if (!listed.ok()) return listed.status();
  TraceChoice choice;
  choice.paths = *std::move(listed);
  // Those of processes that stayed dormant say nothing.
  const auto begun = std::stable_partition(choice.paths.begin(), choice.paths.end(), HasBegun);
  if (begun != choice.paths.begin()) choice.paths.erase(begun, choice.paths.end());
  if (all_runs || choice.paths.size() == 1 || !IsTraceName(choice.paths[0])) return choice;
  TraceRuns sorted = SortIntoRuns(choice.paths);
  std::vector<TraceRun>& runs = sorted.runs;
  if (runs.size() < 2) return choice;
  choice.paths = std::move(runs[0].paths);
  choice.paths.insert(choice.paths.end(), sorted.unreadable.begin(), sorted.unreadable.end());
  std::sort(choice.paths.begin(), choice.paths.end());
  std::vector<std::string> times;
  for (size_t i = 1; i < runs.size() && i <= kMostTimes; ++i) {
    times.push_back(TimeOf(runs[i].start_ns, runs[0].start_ns));
  }
  const bool one = runs.size() == 2, more = runs.size() - 1 > kMostTimes;
  choice.left_out =
      absl::StrCat(runs.size() - 1, one ? " other run in " : " other runs in ", path, ", from ",
                   absl::StrJoin(times, times.size() == 2 && !more ? " and " : ", "), more ? " and earlier" : "",
                   one ? ", is left out; --all-runs takes it" : ", are left out; --all-runs takes them");
  return choice;
}

std::optional<std::string> RunIdOf(const std::string& path) {
  std::optional<Origin> origin = ReadOrigin(path);
  return origin ? std::make_optional(std::move(origin->run_id)) : std::nullopt;
}

namespace {

bool IsSummaryName(std::string name) { return absl::EndsWith(name, ".vts"); }

}  // namespace

bool IsTraceName(std::string name) {
  const size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits > 0 && digits < name.size() && name[digits - 1] == '.') name.resize(digits - 1);
  return absl::EndsWith(name, ".vtrace");
}

absl::StatusOr<std::vector<std::string>> ListTraces(const std::string& path) {
  struct stat info;
  if (stat(path.c_str(), &info) != 0) {
    const std::string line = absl::StrCat(path, ": ", std::strerror(errno));
    if (errno == ENOENT) return absl::NotFoundError(line);
    return absl::FailedPreconditionError(line);
  }
  if (!S_ISDIR(info.st_mode)) return std::vector<std::string>{path};
  DIR* folder = opendir(path.c_str());
  if (folder == nullptr) return absl::FailedPreconditionError(absl::StrCat(path, ": ", std::strerror(errno)));
  std::vector<std::string> names;
  while (const dirent* entry = readdir(folder)) names.push_back(entry->d_name);
  closedir(folder);
  std::sort(names.begin(), names.end());
  std::vector<std::string> paths;
  // Summaries stand for traces where there are none.
  for (bool (*const is_wanted)(std::string) : {IsTraceName, IsSummaryName}) {
    for (const std::string& name : names) {
      if (is_wanted(name)) paths.push_back(absl::StrCat(path, absl::EndsWith(path, "/") ? "" : "/", name));
    }
    if (!paths.empty()) return paths;
  }
  return absl::NotFoundError(absl::StrCat(path, ": no *.vtrace in this folder; `vramtrack run` writes them"));
}

}  // namespace vramtrack
