// SPDX-License-Identifier: Apache-2.0
//
// Asks a running process to find what holds its memory. The request is a counter in the header page of its trace, which
// the process looks at when it allocates.
#ifndef ANALYZER_CLI_HOLDER_REQUEST_H_
#define ANALYZER_CLI_HOLDER_REQUEST_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "analyzer/cli/mapped_header.h"

namespace vramtrack {

struct TracingProcess {
  pid_t pid = 0;
  std::string trace;  // a path that this process can open
};

// Returns whether `target` is the number of a process: no file has this name.
bool IsProcessNumber(const std::string& target);

// Returns the processes of this machine that `target` names: the number of a process that writes a trace, or of one
// that started such processes; or a trace; or a folder of traces, of which those of running processes count. Never
// empty. An error is one line that names `target`.
absl::StatusOr<std::vector<TracingProcess>> FindTracingProcesses(const std::string& target);

// Returns the traces of those processes.
absl::StatusOr<std::vector<std::string>> TracesOfProcess(const std::string& target);

// Returns why a process does not answer requests, given the environment with which it started (as /proc/PID/environ has
// it); empty if it answers them, or if that is unknown.
std::string WhyNotAnswered(const std::string& environment);

// Returns that the Python of a process cannot be walked, and what names it.
std::string CannotBeWalked(const TracingProcess& process);

// One request to one process. Thread-compatible.
class HolderRequest {
 public:
  enum class State { kWaiting, kAnswered, kEnded, kStopped, kRefused };

  // Checks that the process can be asked. An error is one line that names it.
  static absl::StatusOr<HolderRequest> Open(const TracingProcess& process);

  const TracingProcess& process() const { return process_; }
  void Send();
  // Returns whether a walk has ended since Send(). Later calls return the same once it is not kWaiting.
  State Poll();
  // Returns the number of walks that have ended since recording began.
  uint64_t walks() const;

 private:
  HolderRequest(TracingProcess process, MappedHeader header);

  bool answers() const;

  TracingProcess process_;
  MappedHeader header_;
  uint64_t walks_before_ = 0;
  bool answered_before_ = false;
  State state_ = State::kWaiting;
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_HOLDER_REQUEST_H_
