// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/say.h"

#include <unistd.h>

#include <string>

#include "analyzer/base/display_text.h"
#include "analyzer/cli/exit_code.h"

namespace vramtrack {

void Say(std::string_view line) {
  std::string text = "vramtrack: " + Printable(line) + "\n";
  // Nobody is left to be told when this fails.
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text.data(), text.size());
}

int BadInput(std::string_view line) {
  Say(line);
  return kExitBadInput;
}

}  // namespace vramtrack
