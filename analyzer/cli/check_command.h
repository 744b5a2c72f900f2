// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_CHECK_COMMAND_H_
#define ANALYZER_CLI_CHECK_COMMAND_H_

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "analyzer/check/limits.h"

namespace vramtrack {

struct CheckCommandOptions {
  std::string trace, baseline, budget_file;
  std::map<std::string, std::string> limits;  // of kLimitKinds by key, as given on the command line
  std::vector<std::string> fail_on;           // ids of rules, with commas
  std::string today;                          // empty: the clock's, in UTC
  std::string format = "text";                // see CheckFormats()
  std::string output;                         // empty or "-": standard output
  std::string source_root;
  bool all_runs = false;   // of a folder; see ChooseTraces
  std::string step_marks;  // as AnalyzeOptions has it
  size_t threads = 0;      // as AnalyzeOptions has it
  std::vector<std::string> search_paths;
};

// The option that sets a limit: "--max-peak".
std::string LimitOption(const LimitKind& kind);

// "text, json, github, gitlab, junit and sarif".
std::string CheckFormats();

// `vramtrack check`. An exit code.
int RunCheck(const CheckCommandOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_CHECK_COMMAND_H_
