// SPDX-License-Identifier: Apache-2.0
//
// Handling of fatal conditions: out of memory, a stack overflow from deeply nested input, a file that is truncated
// while it is read. Each prints one line on stderr, removes unfinished output files and exits with code 2.
#ifndef ANALYZER_CLI_FATAL_END_H_
#define ANALYZER_CLI_FATAL_END_H_

#include <functional>

namespace vramtrack {

// What is said of a file that was truncated while it was read, after its path.
inline constexpr char kTruncatedText[] = ": truncated while it was read (try again)";

// Installs the handlers. Call it once, on the main thread, before anything else.
void InstallFatalEnds();

// Returns the result of `run`, or the exit code for an exception that `run` throws.
int RunToExitCode(const std::function<int()>& run);

// From now on, calls `end` instead of exiting with code 2 as described above. `end` must not return, and must be
// async-signal-safe because signal handlers call it.
void EndFatallyWith(void (*end)());

// From now on, a file that is truncated while it is read does not end the process: it reads as zeros, and ReplacedEnds
// says so.
void GoOnAfterTruncations();

// From now on, calls `prepare` before the line on stderr is written. The same holds for it as for `end`, except that it
// returns. Null: no more.
void PrepareFatalEndWith(void (*prepare)());

}  // namespace vramtrack

#endif  // ANALYZER_CLI_FATAL_END_H_
