// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_CHILD_PROCESS_H_
#define ANALYZER_CLI_CHILD_PROCESS_H_

#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

struct ChildResult {
  int wait_status = 0;  // as of waitpid
  int start_error = 0;  // errno if the command could not be started; the rest means nothing then
};

// Starts `command` (searched for in PATH) with `environment` added to this process's own, and waits for its end.
// SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end this process meanwhile: those that somebody sent to it alone go on to
// the command; those of the terminal have reached the command already. Not thread-safe.
ChildResult RunChild(const std::vector<std::string>& command,
                     const std::vector<std::pair<std::string, std::string>>& environment);

// Ends this process as `wait_status` says that another one ended: with its exit code or by its signal.
[[noreturn]] void EndLike(int wait_status);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_CHILD_PROCESS_H_
