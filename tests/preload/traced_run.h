// SPDX-License-Identifier: Apache-2.0
//
// Runs a program on the simulated device, traced or not, and reads what it left behind.
#ifndef TESTS_PRELOAD_TRACED_RUN_H_
#define TESTS_PRELOAD_TRACED_RUN_H_

#include <sys/types.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"

namespace vramtrack {

struct RunResult {
  int wait_status = 0;
  std::string out, err;
  std::vector<std::string> traces;  // paths, sorted by name
};

struct RunOptions {
  bool traced = true;
  std::map<std::string, std::string> environment;
  std::vector<std::string> preload_before, preload_after;  // other libraries, traced or not
  std::function<void()> in_child;                          // called in the child just before the program is executed
  std::function<void(pid_t)> while_running;                // called once after the start
  int limit_s = 100;                                       // the program is killed after that
};

// `program`: name of a program of the folder PROGRAMS, or an absolute path. Every run has a folder of its own for its
// traces, which anybody may write to.
RunResult RunProgram(const std::string& program, const std::vector<std::string>& arguments,
                     const RunOptions& options = {});

// Contexts and code that the CUDA runtime takes for itself, as its own libraries of all versions do at other moments.
constexpr bool IsOfTheRuntime(uint32_t kind) {
  return kind == schema::CONTEXT || kind == schema::MODULE || kind == schema::LIBRARY;
}

// Counts of a trace's events by schema::Operation, those of folds as the allocations and frees that they stand for; and
// the live allocations at its end, by kind, with their bytes. Without what is of the runtime.
struct TraceCounts {
  std::map<uint32_t, uint64_t> operations;
  std::map<uint32_t, uint64_t> live_objects, live_bytes;
  uint64_t lost_events = 0, unreadable_events = 0;
  uint64_t generation = 0;  // the oldest one that counts
  bool finished = false, running = false;
};
TraceCounts Count(const std::string& trace);

}  // namespace vramtrack

#endif  // TESTS_PRELOAD_TRACED_RUN_H_
