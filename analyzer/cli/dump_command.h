// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_DUMP_COMMAND_H_
#define ANALYZER_CLI_DUMP_COMMAND_H_

#include <string>
#include <vector>

namespace vramtrack {

struct DumpOptions {
  std::string trace;  // a file or a folder
  bool stacks = false;
  bool raw_stacks = false;  // with every frame; only with `stacks`
  std::vector<std::string> search_paths;
  bool all_runs = false;  // of a folder; see ChooseTraces
};

// `vramtrack dump`: the events of each process in the order in which they happened, one a line. An exit code.
int RunDump(const DumpOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_DUMP_COMMAND_H_
