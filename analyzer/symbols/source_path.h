// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_SOURCE_PATH_H_
#define ANALYZER_SYMBOLS_SOURCE_PATH_H_

#include <string>
#include <string_view>

namespace vramtrack {

// Returns `path` with "//", "/./" and "/../" resolved, without using the file system.
std::string FoldedPath(std::string_view path);

// Returns the path of a source file as reports show it. `name` is the name in DWARF; a relative one is below
// `compilation_dir`. A path in the working folder of a Bazel build becomes relative to the workspace:
// "/proc/self/cwd/a/b.cu" becomes "a/b.cu". Returns an empty string for temporary files of nvcc, which are deleted
// after the build and have different names in each build.
std::string SourcePath(std::string_view name, std::string_view compilation_dir);

// Returns whether `path` has the name of a CUDA source or header.
bool IsCudaSource(std::string_view path);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_SOURCE_PATH_H_
