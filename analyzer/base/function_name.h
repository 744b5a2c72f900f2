// SPDX-License-Identifier: Apache-2.0
//
// Shortens demangled names of C++ and Rust functions. Names of C and Python functions are returned unchanged.
#ifndef ANALYZER_BASE_FUNCTION_NAME_H_
#define ANALYZER_BASE_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace vramtrack {

// Returns the name with its namespaces and classes. Removes the return type, parameters, anonymous namespaces, ABI
// tags, inline namespaces of the standard library, and marks of compiler clones. Long template arguments become
// "<...>".
//   "void at::native::(anonymous namespace)::fill<float>(at::Tensor&) [clone .cold]" becomes "at::native::fill<float>".
//   "<alloc::vec::Vec<T> as core::ops::Drop>::drop" becomes "alloc::vec::Vec<T>::drop".
std::string QualifiedName(std::string_view demangled);

// Returns the last two parts of the qualified name without template arguments, for a line of text:
// "void a::b::Attention<float>::Forward(Tensor const&)" becomes "Attention::Forward".
std::string ShortFunctionName(std::string_view demangled);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_FUNCTION_NAME_H_
