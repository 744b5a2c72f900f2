// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_PROGRAM_FILE_H_
#define ANALYZER_CLI_PROGRAM_FILE_H_

#include <string>

namespace vramtrack {

// The file that execvp would start for `command`; empty if there is none.
std::string FindProgram(const std::string& command);

// Why the program at `path` cannot be traced by preloading, as the end of a sentence that begins with its name ("is
// statically linked"); empty if it can, or if that cannot be told. Of a script its interpreter counts.
std::string WhyNotTraceable(const std::string& path);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_PROGRAM_FILE_H_
