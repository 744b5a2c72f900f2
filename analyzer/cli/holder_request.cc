// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/holder_request.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analyzer/ingest/trace_choice.h"
#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

constexpr char kDeleted[] = " (deleted)";

// A file whose first page a process has mapped, shared and writable, as the recorder maps its trace.
struct SharedMapping {
  ino_t inode;
  std::string path;
};

// Empty if they cannot be read; errno has the reason.
std::vector<SharedMapping> SharedMappings(pid_t pid) {
  std::vector<SharedMapping> mappings;
  errno = 0;
  std::ifstream maps(absl::StrCat("/proc/", pid, "/maps"));
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string range, permissions, offset, device, path;
    SharedMapping mapping;
    if (!(fields >> range >> permissions >> offset >> device >> mapping.inode)) continue;
    if (permissions != "rw-s" || offset.find_first_not_of('0') != std::string::npos || mapping.inode == 0) continue;
    std::getline(fields >> std::ws, mapping.path);
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

std::string Error(const std::string& subject, int error) { return absl::StrCat(subject, ": ", std::strerror(error)); }

std::string NameOf(pid_t pid) { return absl::StrCat("process ", pid); }

// A path by which the mapped file can be opened: the process may be in a container, with a root of its own.
std::string ReachablePath(pid_t pid, const SharedMapping& mapping) {
  for (const std::string& root : {std::string(), absl::StrCat("/proc/", pid, "/root")}) {
    struct stat info;
    const std::string path = root + mapping.path;
    if (stat(path.c_str(), &info) == 0 && info.st_ino == mapping.inode) return path;
  }
  return "";
}

std::vector<pid_t> AllProcesses() {
  std::vector<pid_t> pids;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/proc"), closedir);
  for (const dirent* entry; folder != nullptr && (entry = readdir(folder.get())) != nullptr;) {
    pid_t pid;
    if (absl::SimpleAtoi(entry->d_name, &pid) && pid != 0) pids.push_back(pid);
  }
  std::sort(pids.begin(), pids.end());
  return pids;
}

// The processes that `pid` has started, and those that these have started.
std::vector<pid_t> Descendants(pid_t pid) {
  std::map<pid_t, std::vector<pid_t>> children;
  for (const pid_t child : AllProcesses()) {
    std::ifstream file(absl::StrCat("/proc/", child, "/stat"));
    std::string line;
    std::getline(file, line);
    // "42 (name) S 41 ...": the name may have any characters.
    const size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(line.substr(name_end + 1));
    std::string state;
    pid_t parent = 0;
    if (fields >> state >> parent) children[parent].push_back(child);
  }
  std::vector<pid_t> found = {pid};
  for (size_t i = 0; i < found.size(); ++i) {
    const std::vector<pid_t>& next = children[found[i]];
    found.insert(found.end(), next.begin(), next.end());
  }
  found.erase(found.begin());
  return found;
}

// The trace that the process writes. The error is one line.
absl::StatusOr<TracingProcess> FindTraceOf(pid_t pid) {
  if (kill(pid, 0) != 0 && errno == ESRCH) return absl::NotFoundError(NameOf(pid) + ": no such process");
  const std::vector<SharedMapping> mappings = SharedMappings(pid);
  if (mappings.empty() && errno != 0) return absl::NotFoundError(Error(absl::StrCat("/proc/", pid, "/maps"), errno));
  std::string problem, complete;
  for (const SharedMapping& mapping : mappings) {
    if (absl::EndsWith(mapping.path, kDeleted)) {
      if (IsTraceName(mapping.path.substr(0, mapping.path.size() - std::strlen(kDeleted)))) {
        problem = absl::StrCat(NameOf(pid), ": its trace was deleted: ", mapping.path);
      }
      continue;
    }
    const std::string path = ReachablePath(pid, mapping);
    if (path.empty()) continue;
    const absl::StatusOr<MappedHeader> header = MappedHeader::Open(path);
    // A process that was stopped and started again has several.
    if (header.ok() && !header->finished()) return TracingProcess{pid, path};
    if (header.ok()) {
      complete = path;
    } else if (IsTraceName(path) && !absl::IsInvalidArgument(header.status())) {
      problem = std::string(header.status().message());
    }
  }
  if (!complete.empty()) return TracingProcess{pid, complete};
  if (!problem.empty()) return absl::FailedPreconditionError(problem);
  return absl::NotFoundError(absl::StrCat(NameOf(pid),
                                          ": writes no trace (expected a process that vramtrack run has started, or "
                                          "attach has joined, and that has called CUDA)"));
}

absl::StatusOr<std::vector<TracingProcess>> FindByNumber(pid_t pid) {
  absl::StatusOr<TracingProcess> own = FindTraceOf(pid);
  if (own.ok()) return std::vector<TracingProcess>{*std::move(own)};
  // A launcher, such as vramtrack run or torchrun.
  std::vector<TracingProcess> processes;
  for (const pid_t descendant : Descendants(pid)) {
    absl::StatusOr<TracingProcess> process = FindTraceOf(descendant);
    if (process.ok()) processes.push_back(*std::move(process));
  }
  if (processes.empty()) return own.status();
  return processes;
}

absl::StatusOr<std::vector<TracingProcess>> FindByTraces(const std::string& target) {
  const absl::StatusOr<std::vector<std::string>> traces = ListTraces(target);
  if (!traces.ok()) return traces.status();
  std::map<ino_t, std::string> trace_of;
  for (const std::string& trace : *traces) {
    struct stat info;
    if (stat(trace.c_str(), &info) == 0) trace_of[info.st_ino] = trace;
  }
  std::vector<TracingProcess> processes;
  for (const pid_t pid : AllProcesses()) {
    // Of several, the one that is written now: a process that was stopped and started again has others.
    std::optional<std::string> complete;
    bool found_one = false;
    for (const SharedMapping& mapping : SharedMappings(pid)) {
      const auto found = trace_of.find(mapping.inode);
      if (found == trace_of.end()) continue;
      // Other file systems have the same numbers.
      const auto name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
      char real[PATH_MAX];
      if (realpath(found->second.c_str(), real) == nullptr || name(real) != name(mapping.path)) continue;
      const absl::StatusOr<MappedHeader> header = MappedHeader::Open(found->second);
      if (header.ok() && header->finished()) {
        complete = found->second;
        continue;
      }
      processes.push_back({pid, found->second});
      found_one = true;
      break;
    }
    if (!found_one && complete) processes.push_back({pid, *complete});
  }
  if (processes.empty()) {
    return absl::NotFoundError(absl::StrCat(
        target,
        ": no process of this machine writes it (the process has ended, runs on another host, or is another "
        "user's)"));
  }
  return processes;
}

std::optional<std::string> VariableIn(const std::string& environment, const std::string& name) {
  for (const auto entry : absl::StrSplit(environment, '\0')) {
    if (absl::StartsWith(entry, name + "=")) return std::string(entry.substr(name.size() + 1));
  }
  return std::nullopt;
}

}  // namespace

bool IsProcessNumber(const std::string& target) {
  struct stat info;
  return !target.empty() && target.find_first_not_of("0123456789") == std::string::npos &&
         stat(target.c_str(), &info) != 0;
}

absl::StatusOr<std::vector<TracingProcess>> FindTracingProcesses(const std::string& target) {
  if (IsProcessNumber(target)) {
    pid_t pid = 0;
    if (!absl::SimpleAtoi(target, &pid) || pid < 1) {
      return absl::InvalidArgumentError(absl::StrCat("invalid process number '", target, "'"));
    }
    return FindByNumber(pid);
  }
  return FindByTraces(target);
}

absl::StatusOr<std::vector<std::string>> TracesOfProcess(const std::string& target) {
  const absl::StatusOr<std::vector<TracingProcess>> processes = FindTracingProcesses(target);
  if (!processes.ok()) return processes.status();
  std::vector<std::string> traces;
  for (const TracingProcess& process : *processes) traces.push_back(process.trace);
  return traces;
}

std::string WhyNotAnswered(const std::string& environment) {
  constexpr char kStart[] = "start it with vramtrack run --holders, or join it with vramtrack attach --holders";
  if (environment.find('=') == std::string::npos) return "";  // hidden, or overwritten by the program
  const std::optional<std::string> holders = VariableIn(environment, "VRAMTRACK_HOLDERS");
  if (!holders || holders->empty() || *holders == "0") {
    return absl::StrCat("holders are off in this process (", kStart, ")");
  }
  const std::vector<std::string> moments = absl::StrSplit(*holders, ',');
  for (const char* moment : {"1", "all", "request"}) {
    if (std::find(moments.begin(), moments.end(), moment) != moments.end()) return "";
  }
  return absl::StrCat("VRAMTRACK_HOLDERS of this process is '", *holders, "', which does not include request (", kStart,
                      ")");
}

std::string CannotBeWalked(const TracingProcess& process) {
  return absl::StrCat("its Python cannot be walked (vramtrack info ", process.trace, " names it)");
}

HolderRequest::HolderRequest(TracingProcess process, MappedHeader header)
    : process_(std::move(process)), header_(std::move(header)) {
  walks_before_ = walks();
  answered_before_ = answers();
}

absl::StatusOr<HolderRequest> HolderRequest::Open(const TracingProcess& process) {
  const std::string name = NameOf(process.pid);
  std::ifstream file(absl::StrCat("/proc/", process.pid, "/environ"), std::ios::binary);
  std::ostringstream environment;
  environment << file.rdbuf();
  absl::StatusOr<MappedHeader> header = MappedHeader::Open(process.trace);
  if (!header.ok()) return absl::FailedPreconditionError(header.status().message());
  // What the environment says was true at the start; a process that was joined has other options.
  if ((header->Counter(schema::COUNTER_CONTROL).load() & schema::CONTROL_ANSWERS) == 0) {
    std::string obstacle = WhyNotAnswered(environment.str());
    if (obstacle.empty() && VariableIn(environment.str(), "VRAMTRACK_HOLDERS")) {
      obstacle = CannotBeWalked(process);
    }
    if (!obstacle.empty()) return absl::FailedPreconditionError(absl::StrCat(name, ": ", obstacle));
  }
  HolderRequest request(process, *std::move(header));
  if (request.header_.finished()) {
    return absl::FailedPreconditionError(absl::StrCat(name, ": it is ending, and its trace is complete"));
  }
  if (request.header_.Counter(schema::COUNTER_STOP_REASON).load() != 0) {
    return absl::FailedPreconditionError(
        absl::StrCat(name, ": recording has stopped (vramtrack info ", process.trace, " shows why)"));
  }
  return request;
}

bool HolderRequest::answers() const {
  return (header_.Counter(schema::COUNTER_CONTROL).load() & schema::CONTROL_ANSWERS) != 0;
}

uint64_t HolderRequest::walks() const { return header_.Counter(schema::COUNTER_HOLDER_WALKS).load(); }

void HolderRequest::Send() {
  walks_before_ = walks();
  header_.Counter(schema::COUNTER_HOLDER_REQUESTS).fetch_add(1);
}

HolderRequest::State HolderRequest::Poll() {
  if (state_ != State::kWaiting) return state_;
  // Looked at first: a walk may be the last that the process does.
  const bool ended = (kill(process_.pid, 0) != 0 && errno == ESRCH) || header_.finished();
  const bool stopped = header_.Counter(schema::COUNTER_STOP_REASON).load() != 0;
  if (walks() > walks_before_) return state_ = State::kAnswered;
  if (ended) return state_ = State::kEnded;
  if (stopped) return state_ = State::kStopped;
  if (answered_before_ && !answers()) return state_ = State::kRefused;
  return State::kWaiting;
}

}  // namespace vramtrack
