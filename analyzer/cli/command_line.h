// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_COMMAND_LINE_H_
#define ANALYZER_CLI_COMMAND_LINE_H_

#include <string>
#include <vector>

namespace vramtrack {

// The whole of `vramtrack`: `arguments` without the program's name. An exit code.
int RunCommandLine(const std::vector<std::string>& arguments);

// What --help prints. By hand, for the help of the parser's versions differs.

extern const char kOverview[];
extern const char kRunHelp[];
extern const char kReportHelp[];
extern const char kDiffHelp[];
extern const char kCheckHelp[];
extern const char kExportHelp[];
extern const char kSummarizeHelp[];
extern const char kMergeHelp[];
extern const char kInfoHelp[];
extern const char kDumpHelp[];

}  // namespace vramtrack

#endif  // ANALYZER_CLI_COMMAND_LINE_H_
