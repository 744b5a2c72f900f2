// SPDX-License-Identifier: Apache-2.0
//
// The ends of the program that no command foresees: no memory left, a stack that is used up by what an input nests, a
// file that is cut short while it is read. Each is one line on stderr and exit code 2, and no unfinished file is left.
#ifndef ANALYZER_CLI_FATAL_END_H_
#define ANALYZER_CLI_FATAL_END_H_

#include <functional>

namespace vramtrack {

// To be called once, by the main thread, before anything else.
void InstallFatalEnds();

// What `run` returns, or what an exception that it lets through is worth.
int RunToExitCode(const std::function<int()>& run);

// From here on, the process ends by `end`, which must not return, wherever it would have ended with exit code 2 above.
// Called from a signal handler.
void EndFatallyWith(void (*end)());

}  // namespace vramtrack

#endif  // ANALYZER_CLI_FATAL_END_H_
