// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_MODEL_TYPE_NAME_H_
#define ANALYZER_MODEL_TYPE_NAME_H_

#include <string>
#include <typeinfo>

namespace vramtrack {

// Returns the name of a struct in schemas: "Site" for vramtrack::ReportSite, "AcrossRate" for ReportAcross::Rate.
std::string TypeName(const std::type_info& type);
template <class T>
std::string TypeName() {
  return TypeName(typeid(T));
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_TYPE_NAME_H_
