// SPDX-License-Identifier: Apache-2.0
//
// The schema of a summary, generated from the Fields functions: see summary_writer.h.
#ifndef ANALYZER_SUMMARY_SCHEMA_TEXT_H_
#define ANALYZER_SUMMARY_SCHEMA_TEXT_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {

// A visitor that looks at types only. Thread-compatible.
class SummarySchema : public PlainFields<SummarySchema> {
 public:
  // Texts of the messages, by name.
  using Messages = std::map<std::string, std::string>;

  explicit SummarySchema(Messages* messages) : messages_(messages) {}

  template <class T>
  void Plain(uint32_t field, const char* name, const T&) {
    fields_[field] = absl::StrCat("  ", TypeOf(static_cast<T*>(nullptr)), " ", name, " = ", field, ";\n");
  }

  // Adds T's message and those that it consists of. Returns its name.
  template <class T>
  static std::string Add(Messages* messages) {
    const std::string name = TypeName<T>();
    if (const auto [found, is_new] = messages->try_emplace(name); is_new) {
      SummarySchema archive(messages);
      T value;
      Fields(archive, value);
      for (const auto& [field, text] : archive.fields_) (*messages)[name] += text;
    }
    return name;
  }

 private:
  template <class T>
  std::string TypeOf(T*) {
    if constexpr (std::is_same_v<T, bool>) {
      return "bool";
    } else if constexpr (kHasNames<T>) {
      return "bytes";  // the name of the enum value
    } else if constexpr (std::is_enum_v<T>) {
      return "uint32";
    } else if constexpr (std::is_integral_v<T>) {
      return std::is_signed_v<T> ? "sint64" : "uint64";
    } else if constexpr (std::is_same_v<T, double>) {
      return "double";
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, ReportSiteIndex>) {
      return "bytes";  // names need not be valid UTF-8
    } else if constexpr (std::is_same_v<T, ReportFrame>) {
      return "uint64";
    } else {
      return Add<T>(messages_);
    }
  }
  template <class A, class B>
  std::string TypeOf(std::pair<A, B>*) {
    const std::string first = TypeOf(static_cast<A*>(nullptr)), second = TypeOf(static_cast<B*>(nullptr));
    const bool is_list = second.rfind("repeated ", 0) == 0;
    const std::string name = absl::StrCat("Named_", is_list ? "list" : second);
    (*messages_)[name] = absl::StrCat("  ", first, " first = 1;\n  ", second, " second = 2;\n");
    return name;
  }
  template <class T>
  std::string TypeOf(std::optional<T>*) {
    return "optional " + TypeOf(static_cast<T*>(nullptr));
  }
  template <class T>
  std::string TypeOf(std::vector<T>*) {
    if constexpr (std::is_same_v<T, ReportFrame>) return "optional uint64";
    if constexpr (std::is_integral_v<T>) return "repeated sint64";
    return "repeated " + TypeOf(static_cast<T*>(nullptr));
  }
  template <class T>
  std::string TypeOf(std::map<std::string, T>*) {
    return "repeated " + TypeOf(static_cast<std::pair<std::string, T>*>(nullptr));
  }

  Messages* const messages_;
  std::map<uint32_t, std::string> fields_;
};

// Returns the text of summary.proto.
std::string SummaryProto();

}  // namespace vramtrack

#endif  // ANALYZER_SUMMARY_SCHEMA_TEXT_H_
