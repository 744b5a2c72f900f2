// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_DIFF_COMMAND_H_
#define ANALYZER_CLI_DIFF_COMMAND_H_

#include <cstddef>
#include <string>
#include <vector>

#include "analyzer/render/text/terminal.h"

namespace vramtrack {

struct DiffCommandOptions {
  std::string base, next;       // files or folders
  std::string format = "text";  // or "json", "markdown"
  std::string output;           // empty or "-": standard output
  size_t top = 10;
  std::vector<std::string> renames;  // "OLD=NEW"
  std::string rename_file;           // one of these a line; empty: none
  std::vector<std::string> fail_on;  // of kFailOn
  std::string step_marks;            // as AnalyzeOptions has it
  std::vector<std::string> search_paths;
  bool explain_passes = false;  // on stderr
  bool all_runs = false;        // of a folder; see ChooseTraces
  size_t threads = 0;           // 0: as many as there are processors
  ColorMode color = ColorMode::kAuto;
};

// What can be given as `fail_on`.
const std::vector<std::string>& FailOnNames();

// `vramtrack diff`. An exit code.
int RunDiff(const DiffCommandOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_DIFF_COMMAND_H_
