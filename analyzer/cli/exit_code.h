// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_EXIT_CODE_H_
#define ANALYZER_CLI_EXIT_CODE_H_

namespace vramtrack {

constexpr int kExitFine = 0;
constexpr int kExitFinding = 1;   // that the caller asked to fail on
constexpr int kExitBadInput = 2;  // or wrong usage
constexpr int kExitNotEnoughEvidence = 3;

// Of `run`, as shells have it.
constexpr int kExitCannotExecute = 126;
constexpr int kExitNotFound = 127;

}  // namespace vramtrack

#endif  // ANALYZER_CLI_EXIT_CODE_H_
