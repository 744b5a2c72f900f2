// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_MERGE_COMMAND_H_
#define ANALYZER_CLI_MERGE_COMMAND_H_

#include <string>
#include <vector>

namespace vramtrack {

struct MergeOptions {
  std::vector<std::string> summaries;  // files, or folders of *.vts
  std::string output;                  // "-": standard output
  std::string detail = "full";         // or "job", "fleet"
  bool keep_going = false;             // leaves out what cannot be read
};

// Gives an exit code.
int RunMerge(const MergeOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_MERGE_COMMAND_H_
