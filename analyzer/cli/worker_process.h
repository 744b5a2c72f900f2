// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_WORKER_PROCESS_H_
#define ANALYZER_CLI_WORKER_PROCESS_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace vramtrack {

// A copy of this process that does what can end a process: reading files that others truncate, or that need more memory
// than there is. It keeps what it has cached from one request to the next. Thread-compatible, and bound to the thread
// that first uses it: the copy ends with that thread, however it ends.
class WorkerProcess {
 public:
  using Fields = std::vector<std::string>;
  using Answer = std::function<Fields(const Fields& request)>;

  // `answer` runs in the copy.
  explicit WorkerProcess(Answer answer) : answer_(std::move(answer)) {}
  ~WorkerProcess() { End(); }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  // Returns the answer to a request. If the copy ends instead, returns what it last wrote to stderr, in one line; the
  // next request starts a new one.
  absl::StatusOr<Fields> Ask(const Fields& request);

 private:
  absl::Status Start();
  std::string End();  // returns why it ended
  [[noreturn]] void Serve(int socket);

  const Answer answer_;
  pid_t pid_ = -1;
  int socket_ = -1;
  int stderr_ = -1;  // a file in memory, to which the copy writes
};

}  // namespace vramtrack

#endif  // ANALYZER_CLI_WORKER_PROCESS_H_
