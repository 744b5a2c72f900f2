// SPDX-License-Identifier: Apache-2.0
//
// Converts anything with a list of fields to JSON: see model/fields.h.
#ifndef ANALYZER_RENDER_JSON_JSON_FIELDS_H_
#define ANALYZER_RENDER_JSON_JSON_FIELDS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"

namespace vramtrack {

using Json = nlohmann::ordered_json;

// Converts a number; null if it is not finite.
inline Json ToJson(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }
inline Json ToJson(bool value) { return value; }
inline Json ToJson(const std::string& value) { return value; }
template <class T>
Json ToJson(const std::optional<T>& value);
template <class T>
Json ToJson(const std::vector<T>& values);
template <class T>
Json ToJson(const T& value);

// A visitor that adds each field to an object. Thread-compatible.
class JsonFields {
 public:
  // Appends to `to`, which must outlive this object. The field `left_out` becomes null.
  explicit JsonFields(Json* to, const char* left_out = nullptr) : to_(*to), left_out_(left_out) {}

  template <class T>
  void operator()(uint32_t, const char* name, const T& value, const char* = "") {
    if (left_out_ != nullptr && std::strcmp(name, left_out_) == 0) {
      to_[name] = nullptr;
      return;
    }
    Add(name, value);
  }

 private:
  template <class T>
  void Add(const char* name, const T& value) {
    to_[name] = ToJson(value);
  }
  template <class T>
  void Add(const char* name, const field::OrNull<T>& wrapped) {
    to_[name] = wrapped.value == T() ? Json(nullptr) : ToJson(wrapped.value);
  }
  void Add(const char* name, const field::SiteReference& wrapped) { Add(name, field::OrNull{wrapped.value}); }
  void Add(const char* name, const field::SiteReferences& wrapped) { Add(name, wrapped.value); }
  template <class E>
  void Add(const char* name, const field::OneOf<E>& wrapped) {
    Add(name, wrapped.value);
  }
  void Add(const char* name, const field::NamedCount& wrapped) {
    Json& json = to_[name];
    if (wrapped.name.empty()) return;
    json["name"] = wrapped.name;
    json["count"] = wrapped.count;
  }
  void Add(const char* name, const field::Interval& wrapped) {
    to_[name] = wrapped.known ? Json::array({ToJson(wrapped.low), ToJson(wrapped.high)}) : Json(nullptr);
  }
  template <class T>
  void Add(const char* name, const field::Columns<T>& wrapped) {
    Json& columns = wrapped.inlined ? to_ : to_[name];
    T none;
    Json names;
    JsonFields fields(&names);
    Fields(fields, none);
    for (const auto& [column, value] : names.items()) columns[column] = Json::array();
    for (const T& row : wrapped.value) {
      Json json = ToJson(row);
      for (auto& [column, value] : json.items()) columns[column].push_back(std::move(value));
    }
  }
  template <class Pairs>
  void Add(const char* name, const field::Map<Pairs>& wrapped) {
    Json& json = to_[name] = Json::object();
    for (const auto& [key, value] : wrapped.value) json[key] = ToJson(value);
  }
  template <class T>
  void Add(const char* name, const field::NamedValues<T>& wrapped) {
    Json& json = to_[name] = Json::array();
    for (const auto& [key, value] : wrapped.value) {
      Json& element = json.emplace_back();
      element[wrapped.first] = key;
      element[wrapped.second] = ToJson(value);
    }
  }
  void Add(const char* name, const field::WholeIf& wrapped) {
    to_[name] = wrapped.whole ? Json(static_cast<int64_t>(wrapped.value)) : ToJson(wrapped.value);
  }
  template <class T>
  void Add(const char*, const field::Inline<T>& wrapped) {
    Fields(*this, wrapped.value);
  }
  template <class T>
  void Add(const char*, const field::Inline<std::optional<T>>& wrapped) {
    if (wrapped.value) Fields(*this, *wrapped.value);
  }
  template <class T>
  void Add(const char* name, const field::Within<T>& wrapped) {
    JsonFields within(&to_[wrapped.object]);
    if constexpr (std::is_class_v<T>) {
      Fields(within, wrapped.value);
    } else {
      within.Add(name, wrapped.value);
    }
  }
  void Add(const char* name, const field::IfTrue& wrapped) {
    if (wrapped.value) to_[name] = true;
  }
  template <class T>
  void Add(const char*, const field::Internal<T>&) {}

  Json& to_;
  const char* const left_out_;
};

template <class T>
Json ToJson(const std::optional<T>& value) {
  return value ? ToJson(*value) : Json(nullptr);
}

template <class T>
Json ToJson(const std::vector<T>& values) {
  Json array = Json::array();
  for (const T& value : values) array.push_back(ToJson(value));
  return array;
}

// Converts a struct. The field `left_out` becomes null.
template <class T>
Json ObjectWithout(const char* left_out, const T& value) {
  Json json;
  JsonFields fields(&json, left_out);
  Fields(fields, const_cast<T&>(value));  // the visitor does not change it
  return json;
}

template <class T>
Json ToJson(const T& value) {
  if constexpr (kHasNames<T>) {
    return NameOf(value);
  } else if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    return ObjectWithout(nullptr, value);
  }
}

// Formats JSON with one line for each field, and for each element of a list: convenient for grep and diff, and compact.
std::string JsonLines(const Json& json);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_JSON_FIELDS_H_
