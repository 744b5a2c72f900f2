// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_REPORT_COMMAND_H_
#define ANALYZER_CLI_REPORT_COMMAND_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/render/text/terminal.h"

namespace vramtrack {

struct ReportOptions {
  std::string trace;            // a file or a folder
  std::string format = "text";  // or "json", "html"
  std::string output;           // empty or "-": standard output
  size_t top = 10;
  bool raw_stacks = false;
  bool all_runs = false;   // of a folder; see ChooseTraces
  std::string step_marks;  // as AnalyzeOptions has it
  std::vector<std::string> search_paths;
  uint64_t horizon_steps = 100000;  // the same
  size_t threads = 0;               // as AnalyzeOptions has it
  bool explain_passes = false;      // on stderr
  ColorMode color = ColorMode::kAuto;
  bool source = true;  // in html, the lines around a finding's
};

// `vramtrack report`. An exit code.
int RunReport(const ReportOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_REPORT_COMMAND_H_
