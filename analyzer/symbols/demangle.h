// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_DEMANGLE_H_
#define ANALYZER_SYMBOLS_DEMANGLE_H_

#include <string>
#include <string_view>

namespace vramtrack {

// Whether `symbol` is a C++ (Itanium ABI) mangled name.
bool IsMangled(std::string_view symbol);

// Whether `symbol` is a function that nvcc makes to launch a kernel.
bool IsCudaLaunchStub(std::string_view symbol);

// The readable name of an ELF symbol. nvcc's stub of the kernel `f(int)` reads "f(int) [launch stub]". A name that is
// not mangled, or is mangled wrongly, comes back as it is.
std::string Demangle(std::string_view symbol);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_DEMANGLE_H_
