// SPDX-License-Identifier: Apache-2.0
//
// The commands. Each gets the arguments that follow its name, declares its options and what --help says of them, and
// returns an exit code. A command that cannot go on may throw CommandFailure instead.
#ifndef ANALYZER_CLI_COMMANDS_H_
#define ANALYZER_CLI_COMMANDS_H_

#include <string>
#include <vector>

namespace vramtrack {

using Arguments = std::vector<std::string>;

// Runs a program traced, and prints a short report on stderr. Returns the exit code of the program if it was started.
// Does not return if a signal ended it.
int RunCommand(const Arguments& arguments);
int ReportCommand(const Arguments& arguments);
int TopCommand(const Arguments& arguments);
int ViewCommand(const Arguments& arguments);
int WatchCommand(const Arguments& arguments);
int AttachCommand(const Arguments& arguments);
int StartCommand(const Arguments& arguments);
int StopCommand(const Arguments& arguments);
int DiffCommand(const Arguments& arguments);
int CheckCommand(const Arguments& arguments);
int ExportCommand(const Arguments& arguments);
int SummarizeCommand(const Arguments& arguments);
int MergeCommand(const Arguments& arguments);
int InfoCommand(const Arguments& arguments);
int DumpCommand(const Arguments& arguments);
int HoldersCommand(const Arguments& arguments);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_COMMANDS_H_
