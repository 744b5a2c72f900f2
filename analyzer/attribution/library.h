// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_LIBRARY_H_
#define ANALYZER_ATTRIBUTION_LIBRARY_H_

#include <string_view>

namespace vramtrack {

// Returns the name of a file without folders and without " (deleted)". The result points into `path`.
std::string_view ModuleName(std::string_view path);

// Returns whether the module at `path` only passes allocations on: CUDA's runtime and driver libraries, and vramtrack's
// own. Libraries that decide to allocate (cuBLAS, cuDNN, NCCL) do not count.
bool IsAllocationPlumbing(std::string_view path);

// Returns whether a library is one of vramtrack's own, whose hooks are between the caller and CUDA.
bool IsTracer(std::string_view path);

// Returns whether the module at `path` is a library of PyTorch's allocators, which allocate for others.
bool IsFrameworkAllocator(std::string_view path);

// Returns whether the module at `path` is one of PyTorch's libraries.
bool IsPyTorch(std::string_view path);

// Returns whether a function belongs to a CUDA runtime that was statically linked into a program. Functions in NVIDIA's
// archive have names of a special form, and its entry points call these. `inner`: the function that it calls; "" for
// none.
bool IsStaticRuntime(std::string_view function, std::string_view inner);

// Returns whether a module is an installed library: of the system, of CUDA or of a Python package. Such a module is not
// the user's own code.
bool IsInstalledLibrary(std::string_view path);

// Returns whether a source file is a header of the system or of an installed library.
bool IsSystemHeader(std::string_view file);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_LIBRARY_H_
