// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_DEMANGLE_H_
#define ANALYZER_SYMBOLS_DEMANGLE_H_

#include <string>
#include <string_view>

namespace vramtrack {

// Returns whether `symbol` is a mangled name of C++ (Itanium ABI) or of Rust (v0; its older names look like those of
// C++).
bool IsMangled(std::string_view symbol);

// Returns whether `symbol` is a function that nvcc generates to launch a kernel.
bool IsCudaLaunchStub(std::string_view symbol);

// Returns the readable name of an ELF symbol. nvcc's stub of the kernel `f(int)` becomes "f(int) [launch stub]". A name
// that is not mangled, or not correctly, is returned unchanged; one that would be very long without its arguments.
std::string Demangle(std::string_view symbol);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_DEMANGLE_H_
