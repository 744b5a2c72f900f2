// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_COMMAND_LINE_H_
#define ANALYZER_CLI_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace vramtrack {

// Runs `vramtrack` with `arguments`, which do not contain the program's name. Returns an exit code.
int RunCommandLine(const std::vector<std::string>& arguments);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_COMMAND_LINE_H_
