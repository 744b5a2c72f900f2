// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_EXPORT_COMMAND_H_
#define ANALYZER_CLI_EXPORT_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

namespace vramtrack {

// As the command line has them.
struct ExportCommandOptions {
  std::string trace;
  std::string format;  // --to
  std::string output;
  std::vector<std::string> tables;  // of formats that hold tables; "all" stands for each of them; empty: the sites
  std::string at;     // "peak", "end", "oom", "step=N"; empty: the end of `steps`, or as the format has it
  std::string steps;  // "FIRST:LAST"; empty: all
  std::string level = "all";
  std::string value = "inuse_space";
  uint64_t max_events = 100'000;
  bool raw_stacks = false;
  bool all_runs = false;  // of a folder; see ChooseTraces
  std::string step_marks;
  size_t threads = 0;
  std::vector<std::string> search_paths;
};

// The exit code.
int RunExport(const ExportCommandOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_EXPORT_COMMAND_H_
