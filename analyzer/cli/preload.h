// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_PRELOAD_H_
#define ANALYZER_CLI_PRELOAD_H_

#include <string>

#include "absl/status/statusor.h"

namespace vramtrack {

// The name of the library's file.
inline constexpr char kLibrary[] = "libvramtrack.so";

// Functions with which `run` and `attach` find a program and the library.

// Returns the absolute path of this program, links resolved; empty if it is unknown.
std::string OwnProgram();

// Returns the file that execvp would start for `command`; empty if it is not found.
std::string FindProgram(const std::string& command);

// Returns why the program at `path` cannot be traced by preloading, as the end of a sentence that begins with its name
// ("is statically linked"). Returns an empty string if it can be traced, or if that is unknown. For a script, its
// interpreter is checked.
std::string WhyNotTraceable(const std::string& path);

// Returns the absolute path of libvramtrack.so: VRAMTRACK_LIBRARY, or its place in an installation or a build relative
// to the program `executable` (absolute, links resolved). The error is one line that lists the places.
absl::StatusOr<std::string> FindPreloadLibrary(const std::string& executable);

// Returns the value of LD_PRELOAD with `library` before `current`, or `current` if it already contains a
// libvramtrack.so.
std::string AddToPreload(const std::string& library, const std::string& current);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_PRELOAD_H_
