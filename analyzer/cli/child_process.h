// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_CHILD_PROCESS_H_
#define ANALYZER_CLI_CHILD_PROCESS_H_

#include <string>
#include <utility>
#include <vector>

namespace vramtrack {

struct ChildResult {
  int wait_status = 0;  // the status from waitpid
  // errno if the command could not be started, otherwise 0. If set, the other fields are meaningless.
  int start_error = 0;
};

// Starts `command` (searched for in PATH) with `environment` added to this process's own, and waits until it exits.
// Meanwhile SIGINT, SIGQUIT, SIGTERM and SIGHUP do not end this process: signals sent to this process alone are
// forwarded to the command; signals from the terminal have already reached the command. Not thread-safe.
ChildResult RunChild(const std::vector<std::string>& command,
                     const std::vector<std::pair<std::string, std::string>>& environment);

// Ends this process in the same way as the one with `wait_status`: with its exit code or by its signal.
[[noreturn]] void EndLike(int wait_status);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_CHILD_PROCESS_H_
