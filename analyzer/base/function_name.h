// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_FUNCTION_NAME_H_
#define ANALYZER_BASE_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace vramtrack {

// Shortens a demangled C++ name for a line of text. Removes the return type, parameters, template arguments and all but
// the last two parts of the qualified name: "void a::b::Attention<float>::Forward(Tensor const&)" becomes
// "Attention::Forward". Names of other languages are returned unchanged.
std::string ShortFunctionName(std::string_view demangled);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_FUNCTION_NAME_H_
