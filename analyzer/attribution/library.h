// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_ATTRIBUTION_LIBRARY_H_
#define ANALYZER_ATTRIBUTION_LIBRARY_H_

#include <string_view>

namespace vramtrack {

// The file's name, without folders and without " (deleted)".
std::string_view ModuleName(std::string_view path);

// Whether the module at `path` only passes an allocation on: CUDA's runtime and driver libraries, and vramtrack's own.
// Libraries that decide to allocate (cuBLAS, cuDNN, NCCL) are none of these.
bool IsAllocationPlumbing(std::string_view path);

// Whether the module at `path` is the library of PyTorch's allocators, which gives out what others ask for.
bool IsFrameworkAllocator(std::string_view path);

// Whether the module at `path` is one of PyTorch's libraries.
bool IsPyTorch(std::string_view path);

// Whether a function is one of a CUDA runtime that was linked into a program: NVIDIA's archive has names of this form,
// and its entry points are called from there. `inner`: the function that it calls, "" for none.
bool IsStaticRuntime(std::string_view function, std::string_view inner);

// Whether a module is a library that is installed, of the system, of CUDA or of a Python package: nobody's own code.
bool IsInstalledLibrary(std::string_view path);

// Whether a source file is a header of the system or of an installed library.
bool IsSystemHeader(std::string_view file);

}  // namespace vramtrack

#endif  // ANALYZER_ATTRIBUTION_LIBRARY_H_
