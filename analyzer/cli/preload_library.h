// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_CLI_PRELOAD_LIBRARY_H_
#define ANALYZER_CLI_PRELOAD_LIBRARY_H_

#include <string>

#include "absl/status/statusor.h"

namespace vramtrack {

// The absolute path of libvramtrack.so: what VRAMTRACK_LIBRARY names, or what lies where an installation or a build
// puts it beside the program `executable` (absolute, links resolved). The error is one line that says where it was
// looked for.
absl::StatusOr<std::string> FindPreloadLibrary(const std::string& executable);

// The value of LD_PRELOAD that adds `library` to `current`: in front of what is there, or `current` itself if a
// libvramtrack.so is among it already.
std::string AddToPreload(const std::string& library, const std::string& current);

}  // namespace vramtrack

#endif  // ANALYZER_CLI_PRELOAD_LIBRARY_H_
