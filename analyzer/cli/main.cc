// SPDX-License-Identifier: Apache-2.0
#include <string>
#include <vector>

#include "analyzer/cli/command_line.h"
#include "analyzer/cli/fatal_end.h"

int main(int argc, char** argv) {
  vramtrack::InstallFatalEnds();
  return vramtrack::RunToExitCode(
      [&] { return vramtrack::RunCommandLine(std::vector<std::string>(argv + 1, argv + argc)); });
}
