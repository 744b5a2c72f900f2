// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_SAY_H_
#define ANALYZER_CLI_SAY_H_

#include <string_view>

namespace vramtrack {

// "vramtrack: LINE" on stderr, as one write. What is no text in `line` (new lines too) is made visible.
void Say(std::string_view line);

// Says `line` and returns kExitBadInput.
int BadInput(std::string_view line);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_SAY_H_
