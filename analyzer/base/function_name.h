// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_FUNCTION_NAME_H_
#define ANALYZER_BASE_FUNCTION_NAME_H_

#include <string>
#include <string_view>

namespace vramtrack {

// A demangled C++ name for a line of text: without return type, parameters, template arguments and all but the last two
// parts of its scope. "void a::b::Attention<float>::Forward(Tensor const&)" is "Attention::Forward". Names of other
// languages come back as they are.
std::string ShortFunctionName(std::string_view demangled);

}  // namespace vramtrack

#endif  // ANALYZER_BASE_FUNCTION_NAME_H_
