// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/type_name.h"

#include <cxxabi.h>

#include <cstdlib>

#include "absl/strings/str_replace.h"

namespace vramtrack {

std::string TypeName(const std::type_info& type) {
  int status = 0;
  char* const whole = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = absl::StrReplaceAll(whole, {{"vramtrack::", ""}, {"::", ""}});
  std::free(whole);
  if (name.rfind("Report", 0) == 0 && name != "Report") name.erase(0, 6);
  return name;
}

}  // namespace vramtrack
