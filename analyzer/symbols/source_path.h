// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_SOURCE_PATH_H_
#define ANALYZER_SYMBOLS_SOURCE_PATH_H_

#include <string>
#include <string_view>

namespace vramtrack {

// Folds "//", "/./" and "/../" in `path`, without looking at the file system.
std::string FoldedPath(std::string_view path);

// The path of a source file as reports show it. `name` is DWARF's; a relative one is below `compilation_dir`. What lies
// in a Bazel build's own working folder becomes relative to the workspace: "/proc/self/cwd/a/b.cu" is "a/b.cu". Empty
// for the temporary files that nvcc generates: they are gone after the build, and each build names them differently.
std::string SourcePath(std::string_view name, std::string_view compilation_dir);

// Whether `path` is a CUDA source or header by its name.
bool IsCudaSource(std::string_view path);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_SOURCE_PATH_H_
