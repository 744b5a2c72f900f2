// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_RUN_COMMAND_H_
#define ANALYZER_CLI_RUN_COMMAND_H_

#include <string>
#include <vector>

namespace vramtrack {

struct RunOptions {
  std::string output;         // the folder; empty: a new one named after the time
  std::string stacks;         // VRAMTRACK_STACKS; empty: as the environment has it. So the others
  std::string max_frames;     // VRAMTRACK_MAX_FRAMES
  std::string max_bytes;      // VRAMTRACK_MAX_BYTES
  bool cupti = false;         // VRAMTRACK_CUPTI
  std::string cupti_records;  // VRAMTRACK_CUPTI_RECORDS
  bool quiet = false;         // no report at the end, and no line about what was not traced
  std::vector<std::string> command;
};

// `vramtrack run`: traces the command and prints a short report on stderr unless it is to be quiet. Returns an exit
// code, that of the command if it could be started; does not return if the command ended by a signal.
int RunRun(const RunOptions& options);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_RUN_COMMAND_H_
