// SPDX-License-Identifier: Apache-2.0

#ifndef ANALYZER_SYMBOLS_SHORT_NAME_H_
#define ANALYZER_SYMBOLS_SHORT_NAME_H_

#include <string>
#include <string_view>

namespace vramtrack {

// A demangled function name as one would say it: without return type, parameters, anonymous namespaces, ABI tags and
// inline namespaces of the standard library, and compiler clones; long template arguments become "<...>".
//   "void at::native::(anonymous namespace)::fill<float>(at::Tensor&) [clone .cold]" is "at::native::fill<float>".
// Names of C and Python functions come back as they are.
std::string ShortName(std::string_view demangled);

}  // namespace vramtrack

#endif  // ANALYZER_SYMBOLS_SHORT_NAME_H_
