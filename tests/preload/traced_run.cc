// SPDX-License-Identifier: Apache-2.0
#include "tests/preload/traced_run.h"

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace vramtrack {
namespace {

// Set by the BUILD file, relative to the runfiles folder in which a test starts.
std::string FromEnvironment(const char* name) {
  const char* value = getenv(name);
  if (value == nullptr) ADD_FAILURE() << name << " is not set";
  char here[4096];
  return std::string(getcwd(here, sizeof here)) + "/" + (value != nullptr ? value : "");
}

std::string NewFolder() {
  const char* base = getenv("TEST_TMPDIR");
  std::string folder = std::string(base != nullptr ? base : "/tmp") + "/run.XXXXXX";
  if (mkdtemp(&folder[0]) == nullptr) ADD_FAILURE() << "no folder for traces";
  chmod(folder.c_str(), 0777);
  return folder;
}

std::vector<std::string> TracesIn(const std::string& folder) {
  std::vector<std::string> traces;
  if (DIR* directory = opendir(folder.c_str())) {
    while (const dirent* entry = readdir(directory)) {
      if (entry->d_name[0] != '.') traces.push_back(folder + "/" + entry->d_name);
    }
    closedir(directory);
  }
  std::sort(traces.begin(), traces.end());
  return traces;
}

// Until both are closed, by all processes that inherited them. False after `limit_s`.
bool ReadBoth(int out, int err, int limit_s, RunResult* result) {
  const time_t end = time(nullptr) + limit_s;
  pollfd fds[] = {{out, POLLIN, 0}, {err, POLLIN, 0}};
  std::string* const to[] = {&result->out, &result->err};
  int open = 2;
  char buffer[4096];
  while (open > 0) {
    poll(fds, 2, 1000);
    if (time(nullptr) >= end) return false;
    for (int i = 0; i < 2; ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      const ssize_t got = read(fds[i].fd, buffer, sizeof buffer);
      if (got > 0) {
        to[i]->append(buffer, static_cast<size_t>(got));
      } else {
        fds[i].fd = -1;
        --open;
      }
    }
  }
  return true;
}

std::string Preload(const RunOptions& options, const std::string& library) {
  std::vector<std::string> libraries = options.preload_before;
  if (options.traced) libraries.push_back(library);
  libraries.insert(libraries.end(), options.preload_after.begin(), options.preload_after.end());
  std::string joined;
  for (const std::string& one : libraries) joined += (joined.empty() ? "" : ":") + one;
  return joined;
}

}  // namespace

RunResult RunProgram(const std::string& program, const std::vector<std::string>& arguments, const RunOptions& options) {
  const std::string path = program[0] == '/' ? program : FromEnvironment("PROGRAMS") + "/" + program;
  const std::string preload = Preload(options, FromEnvironment("PRELOAD_LIBRARY"));
  const std::string simcuda = FromEnvironment("SIMCUDA");
  const std::string folder = NewFolder();
  int out[2], err[2];
  if (pipe(out) != 0 || pipe(err) != 0) ADD_FAILURE() << "no pipe";

  const pid_t pid = fork();
  if (pid == 0) {
    setpgid(0, 0);
    dup2(out[1], STDOUT_FILENO);
    dup2(err[1], STDERR_FILENO);
    for (const int fd : {out[0], out[1], err[0], err[1]}) close(fd);
    setenv("LD_LIBRARY_PATH", simcuda.substr(0, simcuda.rfind('/')).c_str(), 1);
    setenv("VRAMTRACK_OUTPUT", (folder + "/%p.vtrace").c_str(), 1);
    for (const auto& [name, value] : options.environment) setenv(name.c_str(), value.c_str(), 1);
    if (!preload.empty()) setenv("LD_PRELOAD", preload.c_str(), 1);
    std::vector<char*> argv = {const_cast<char*>(path.c_str())};
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    if (options.in_child) options.in_child();
    execv(path.c_str(), argv.data());
    _exit(126);
  }
  close(out[1]);
  close(err[1]);
  if (options.while_running) options.while_running(pid);
  RunResult result;
  if (!ReadBoth(out[0], err[0], options.limit_s, &result)) {
    ADD_FAILURE() << program << " hangs";
    kill(-pid, SIGKILL);
  }
  close(out[0]);
  close(err[0]);
  waitpid(pid, &result.wait_status, 0);
  result.traces = TracesIn(folder);
  return result;
}

TraceCounts Count(const std::string& path) {
  TraceCounts counts;
  auto trace = Trace::Open(path);
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status();
    return counts;
  }
  for (const auto& damage : (*trace)->damage())
    ADD_FAILURE() << path << " at " << damage.offset << ": " << damage.reason;
  struct Live {
    uint32_t kind;
    uint64_t bytes;
  };
  std::map<std::pair<ThreadSlot, uint64_t>, Live> live;
  EventStream stream(**trace);
  StreamEvent event;
  while (stream.Next(&event)) {
    if (IsOfTheRuntime(event.shape->kind)) continue;
    if (event.operation == schema::FOLD_ALLOCATE) {
      counts.operations[schema::ALLOCATE] += event.value[0];
    } else if (event.operation == schema::FOLD_FREE) {
      counts.operations[schema::FREE] += event.value[0];
    } else {
      ++counts.operations[event.operation];
    }
    if (event.operation == schema::ALLOCATE) {
      live[{event.owner, event.ordinal}] = {event.shape->kind, event.shape->bytes};
    } else if (event.operation == schema::FREE) {
      live.erase({event.owner, event.ordinal});
    }
  }
  for (const auto& [identity, allocation] : live) {
    ++counts.live_objects[allocation.kind];
    counts.live_bytes[allocation.kind] += allocation.bytes;
  }
  counts.lost_events = (*trace)->lost_events();
  counts.unreadable_events = stream.unreadable_events();
  counts.generation = (*trace)->counter(schema::COUNTER_BASE_GENERATION);
  counts.finished = (*trace)->finished();
  counts.running = (*trace)->running();
  return counts;
}

}  // namespace vramtrack
