// SPDX-License-Identifier: Apache-2.0
#include "analyzer/cli/preload_library.h"

#include <unistd.h>

#include <cstdlib>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace vramtrack {
namespace {

constexpr char kLibrary[] = "libvramtrack.so";
// The loader splits LD_PRELOAD at both.
constexpr char kSeparators[] = ": ";

std::string Folder(const std::string& path) { return path.substr(0, path.rfind('/')); }

// `path` without links and "..", empty if there is no such file.
std::string RealPath(const std::string& path) {
  char* real = realpath(path.c_str(), nullptr);
  if (real == nullptr) return "";
  std::string copy = real;
  free(real);
  return copy;
}

}  // namespace

absl::StatusOr<std::string> FindPreloadLibrary(const std::string& executable) {
  std::string folder = Folder(executable);
  std::vector<std::string> places = {
      absl::StrCat(Folder(folder), "/lib/vramtrack/", kLibrary),                                   // an installation
      absl::StrCat(folder, "/", kLibrary), absl::StrCat(Folder(folder), "/interpose/", kLibrary),  // a build
  };
  const char* variable = getenv("VRAMTRACK_LIBRARY");
  bool named = variable != nullptr && variable[0] != '\0';
  if (named) places = {variable};
  for (const std::string& place : places) {
    std::string path = RealPath(place);
    if (path.empty() || access(path.c_str(), R_OK) != 0) continue;
    if (path.find_first_of(kSeparators) != std::string::npos) {
      return absl::FailedPreconditionError(
          absl::StrCat(path, ": cannot be preloaded, for the loader splits its path at spaces and colons; move it"));
    }
    return path;
  }
  if (named) {
    return absl::NotFoundError(absl::StrCat(variable, ": no such library; VRAMTRACK_LIBRARY must name ", kLibrary));
  }
  return absl::NotFoundError(absl::StrCat(kLibrary, " is at none of ", absl::StrJoin(places, ", "),
                                          "; build it, or name it in VRAMTRACK_LIBRARY"));
}

std::string AddToPreload(const std::string& library, const std::string& current) {
  for (const auto& entry : absl::StrSplit(current, absl::ByAnyChar(kSeparators), absl::SkipEmpty())) {
    std::string path(entry);
    if (path.substr(path.rfind('/') + 1) == kLibrary) return current;
  }
  return current.empty() ? library : absl::StrCat(library, ":", current);
}

}  // namespace vramtrack
