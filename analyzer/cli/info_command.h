// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_INFO_COMMAND_H_
#define ANALYZER_CLI_INFO_COMMAND_H_

#include <string>
#include <vector>

namespace vramtrack {

struct InfoOptions {
  std::string trace;  // a file or a folder
  std::vector<std::string> search_paths;
  bool all_runs = false;  // of a folder; see ChooseTraces
  bool paths = false;     // only their paths
};

// `vramtrack info`: what is in each trace and how complete it is. An exit code.
int RunInfo(const InfoOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_INFO_COMMAND_H_
