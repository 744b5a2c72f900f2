// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_SUMMARIZE_COMMAND_H_
#define ANALYZER_CLI_SUMMARIZE_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace vramtrack {

struct SummarizeOptions {
  std::string trace;            // a file or a folder
  std::string output;           // "-": standard output
  std::string detail = "full";  // or "job", "fleet"
  size_t top = 0;               // as AnalyzeOptions has it; 0: its own
  std::string step_marks;       // the same
  std::vector<std::string> search_paths;
  bool all_runs = false;            // of a folder; see ChooseTraces
  uint64_t horizon_steps = 100000;  // the same
  size_t threads = 0;               // the same
};

// Gives an exit code.
int RunSummarize(const SummarizeOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_SUMMARIZE_COMMAND_H_
