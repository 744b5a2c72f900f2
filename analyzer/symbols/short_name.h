// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_SHORT_NAME_H_
#define ANALYZER_SYMBOLS_SHORT_NAME_H_

#include <string>
#include <string_view>

namespace vramtrack {

// Shortens a demangled function name to its readable part. Removes the return type, parameters, anonymous namespaces,
// ABI tags, inline namespaces of the standard library, and marks of compiler clones. Long template arguments become
// "<...>".
//   "void at::native::(anonymous namespace)::fill<float>(at::Tensor&) [clone .cold]" becomes "at::native::fill<float>".
// Names of C and Python functions are returned unchanged.
std::string ShortName(std::string_view demangled);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_SHORT_NAME_H_
