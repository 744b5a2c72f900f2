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
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "analyzer/ingest/definitions.h"
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
  TracedProcess process;
  uint64_t start_ns = 0;  // of the recording, since 1970; 0: not known
  uint64_t end_ns = 0;    // its last block, if it is complete; 0: it is not
};

// `counter` returns a schema::Counter of the trace.
template <typename Counter>
void SetTimes(uint64_t start_ns, const Counter& counter, Origin* origin) {
  origin->start_ns = start_ns;
  if (counter(schema::COUNTER_FINISHED) == 0) return;
  origin->end_ns =
      start_ns + counter(schema::COUNTER_CLOCK_MONOTONIC_NS) - counter(schema::COUNTER_CLOCK_START_MONOTONIC_NS);
}

// None if `encoded`, a Definitions message, does not define a process.
std::optional<Origin> OriginIn(std::string_view encoded) {
  std::optional<Origin> origin;
  try {
    protozero::pbf_reader definitions(encoded.data(), encoded.size());
    while (definitions.next(schema::definitions_field::process)) {
      ReadProcess(definitions.get_string(), &origin.emplace().process);
    }
  } catch (const protozero::exception&) {
    // Damaged from there on.
  }
  return origin;
}

std::optional<Origin> OriginInBlock(std::string_view payload) {
  BlockHeader header;
  if (!BlockDecoder::ReadHeader(payload, &header)) return std::nullopt;
  return OriginIn(header.definitions);
}

// None if the process is not defined in `beginning`, that of a trace.
std::optional<Origin> FindOrigin(std::string_view beginning) {
  TraceLayout layout;
  if (!ScanTrace(beginning, &layout).empty()) return std::nullopt;
  const auto begun = [&](std::optional<Origin> origin) {
    const auto counter = [&](uint32_t which) { return layout.counters[which]; };
    if (origin) SetTimes(TickClock(layout.counters).start_realtime_ns(), counter, &*origin);
    return origin;
  };
  for (const FrameRef& block : layout.blocks) {
    if (std::optional<Origin> origin = OriginInBlock(block.payload)) return begun(std::move(origin));
  }
  JournalRecovery recovery;
  for (const FrameRef& journal : layout.journals) {
    uint64_t lost_bytes = 0;
    std::string lost;
    const std::string payload = recovery.Recover(journal.payload, &lost_bytes, &lost);
    if (payload.empty()) continue;
    if (std::optional<Origin> origin = OriginInBlock(payload)) return begun(std::move(origin));
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
  Origin origin;
  origin.process = (*trace)->definitions().process;
  const auto counter = [&](uint32_t which) { return (*trace)->counter(which); };
  SetTimes((*trace)->clock().start_realtime_ns(), counter, &origin);
  return origin;
}

struct Recording {
  std::string path;
  Origin origin;
};

// The age of a process is known to a hundredth of a second.
constexpr double kSameMomentSeconds = 0.1;

// Whether two recordings of processes with one name and number are of one process, which was stopped and started again:
// the earlier one was over when the later one began, and the process was older than both. (Processes of several
// containers may have one number.)
bool AreOfOneProcess(const Origin& earlier, const Origin& later) {
  const double age_s = later.process.joined_after_s;
  if (earlier.start_ns == 0 || earlier.end_ns == 0 || age_s == 0) return false;
  return earlier.end_ns <= later.start_ns &&
         static_cast<double>(later.start_ns - earlier.start_ns) / 1e9 < age_s + kSameMomentSeconds;
}

// Whether it is a copy of a file that is read: of copies the longest is, or the first of several. No two recordings of
// processes with one name and number begin in the same nanosecond.
bool IsCopyOf(const Recording& one, const Recording& other) {
  if (&one == &other || one.origin.start_ns == 0 || one.origin.start_ns != other.origin.start_ns) return false;
  if (one.origin.process.rank != other.origin.process.rank) return false;
  return std::make_tuple(other.origin.end_ns, one.path) > std::make_tuple(one.origin.end_ns, other.path);
}

// Moves all recordings of a process but the last one to `earlier`.
void LeaveLastOfEachProcess(std::vector<Recording>* recordings, std::vector<std::string>* earlier) {
  std::map<std::tuple<uint32_t, std::string, std::string>, std::vector<const Recording*>> by_process;
  for (const Recording& recording : *recordings) {
    const TracedProcess& process = recording.origin.process;
    by_process[{process.pid, process.host, process.executable}].push_back(&recording);
  }
  std::set<std::string> left_out;
  for (const auto& [process, of_one] : by_process) {
    for (const Recording* one : of_one) {
      const bool goes_on = std::any_of(of_one.begin(), of_one.end(), [one](const Recording* other) {
        return IsCopyOf(*one, *other) || AreOfOneProcess(one->origin, other->origin);
      });
      if (goes_on) left_out.insert(one->path);
    }
  }
  recordings->erase(std::remove_if(recordings->begin(), recordings->end(),
                                   [&](const Recording& one) { return left_out.count(one.path) > 0; }),
                    recordings->end());
  earlier->assign(left_out.begin(), left_out.end());
}

std::string SayLeftOut(const std::vector<std::string>& earlier) {
  if (earlier.empty()) return "";
  if (earlier.size() == 1) {
    return absl::StrCat(earlier[0],
                        " is left out: an earlier recording of a process that was started again, or a copy");
  }
  return absl::StrCat(earlier.size(),
                      " earlier recordings of processes that were started again, or copies, are left out, such as ",
                      earlier[0]);
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
  std::map<std::string, std::vector<Recording>> by_id;
  TraceRuns sorted;
  for (const std::string& trace : traces) {
    if (!HasBegun(trace)) continue;
    std::optional<Origin> origin = ReadOrigin(trace);
    if (!origin) {
      sorted.unreadable.push_back(trace);
      continue;
    }
    std::vector<Recording>& run = by_id[origin->process.run_id];
    run.push_back({trace, *std::move(origin)});
  }
  for (auto& [id, recordings] : by_id) {
    TraceRun& run = sorted.runs.emplace_back();
    run.run_id = id;
    run.start_ns = recordings[0].origin.start_ns;
    for (const Recording& one : recordings) run.start_ns = std::min(run.start_ns, one.origin.start_ns);
    LeaveLastOfEachProcess(&recordings, &run.earlier);
    for (Recording& one : recordings) run.paths.push_back(std::move(one.path));
  }
  // Equal ones keep the order of their ids.
  std::stable_sort(sorted.runs.begin(), sorted.runs.end(),
                   [](const TraceRun& a, const TraceRun& b) { return a.start_ns > b.start_ns; });
  return sorted;
}

std::string LeaveOutEarlierRecordings(std::vector<std::string>* paths) {
  std::vector<std::string> earlier;
  for (const TraceRun& run : SortIntoRuns(*paths).runs) {
    earlier.insert(earlier.end(), run.earlier.begin(), run.earlier.end());
  }
  paths->erase(std::remove_if(paths->begin(), paths->end(),
                              [&](const std::string& path) {
                                return std::find(earlier.begin(), earlier.end(), path) != earlier.end();
                              }),
               paths->end());
  return SayLeftOut(earlier);
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
  if (choice.paths.size() == 1 || !IsTraceName(choice.paths[0])) return choice;
  TraceRuns sorted = SortIntoRuns(choice.paths);
  std::vector<TraceRun>& runs = sorted.runs;
  choice.paths = std::move(sorted.unreadable);
  std::vector<std::string> earlier;
  for (size_t i = 0; i < runs.size() && (i == 0 || all_runs); ++i) {
    choice.paths.insert(choice.paths.end(), runs[i].paths.begin(), runs[i].paths.end());
    earlier.insert(earlier.end(), runs[i].earlier.begin(), runs[i].earlier.end());
  }
  std::sort(choice.paths.begin(), choice.paths.end());
  choice.left_out = SayLeftOut(earlier);
  if (all_runs || runs.size() < 2) return choice;
  std::vector<std::string> times;
  for (size_t i = 1; i < runs.size() && i <= kMostTimes; ++i) {
    times.push_back(TimeOf(runs[i].start_ns, runs[0].start_ns));
  }
  const bool one = runs.size() == 2, more = runs.size() - 1 > kMostTimes;
  absl::StrAppend(&choice.left_out, choice.left_out.empty() ? "" : "; ", runs.size() - 1,
                  one ? " other run in " : " other runs in ", path, ", from ",
                  absl::StrJoin(times, times.size() == 2 && !more ? " and " : ", "), more ? " and earlier" : "",
                  one ? ", is left out; --all-runs takes it" : ", are left out; --all-runs takes them");
  return choice;
}

std::optional<std::string> RunIdOf(const std::string& path) {
  std::optional<Origin> origin = ReadOrigin(path);
  return origin ? std::make_optional(std::move(origin->process.run_id)) : std::nullopt;
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
