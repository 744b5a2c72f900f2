// SPDX-License-Identifier: Apache-2.0
//
// Converts anything with a list of fields to JSON: see model/fields.h.
#ifndef ANALYZER_RENDER_JSON_JSON_FIELDS_H_
#define ANALYZER_RENDER_JSON_JSON_FIELDS_H_

#include <cmath>
#include <cstdint>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/site.h"

namespace vramtrack {

using Json = nlohmann::ordered_json;

// Converts a value. `sites`: those that it refers to, by whose ids references are replaced; null if it refers to none.
// A number that is not finite becomes null.
template <class T>
Json ToJson(const T& value, const std::vector<ReportSite>* sites = nullptr);

// A visitor that adds each field to an object. Thread-compatible.
class JsonFields {
 public:
  // Appends to `to`, which must outlive this object. The field `left_out` becomes null.
  JsonFields(Json* to, const std::vector<ReportSite>* sites, const char* left_out = nullptr)
      : to_(*to), sites_(sites), left_out_(left_out) {}

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
  Json Of(const T& value) const {
    return ToJson(value, sites_);
  }

  template <class T>
  void Add(const char* name, const T& value) {
    to_[name] = Of(value);
  }
  template <class T>
  void Add(const char* name, const field::OrNull<T>& wrapped) {
    to_[name] = wrapped.value == T() ? Json(nullptr) : Of(wrapped.value);
  }
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
    to_[name] = wrapped.known ? Json::array({Of(wrapped.low), Of(wrapped.high)}) : Json(nullptr);
  }
  template <class T>
  void Add(const char* name, const field::Columns<T>& wrapped) {
    Json& columns = wrapped.inlined ? to_ : to_[name];
    const Json names = Of(T());
    for (const auto& [column, value] : names.items()) columns[column] = Json::array();
    for (const T& row : wrapped.value) {
      Json json = Of(row);
      for (auto& [column, value] : json.items()) columns[column].push_back(std::move(value));
    }
  }
  template <class Pairs>
  void Add(const char* name, const field::Map<Pairs>& wrapped) {
    Json& json = to_[name] = Json::object();
    for (const auto& [key, value] : wrapped.value) json[key] = Of(value);
  }
  template <class Name, class T>
  void Add(const char* name, const field::NamedValues<Name, T>& wrapped) {
    Json& json = to_[name] = Json::array();
    for (const auto& [key, value] : wrapped.value) {
      Json& element = json.emplace_back();
      element[wrapped.first] = Of(key);
      element[wrapped.second] = Of(value);
    }
  }
  void Add(const char* name, const field::WholeIf& wrapped) {
    to_[name] = wrapped.whole ? Json(static_cast<int64_t>(wrapped.value)) : Of(wrapped.value);
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
    JsonFields within(&to_[wrapped.object], sites_);
    if constexpr (std::is_class_v<T>) {
      Fields(within, wrapped.value);
    } else {
      within.Add(name, wrapped.value);
    }
  }
  template <class T>
  void Add(const char* name, const field::IfSet<T>& wrapped) {
    if (wrapped.value != T()) to_[name] = Of(wrapped.value);
  }
  template <class T>
  void Add(const char*, const field::Internal<T>&) {}

  Json& to_;
  const std::vector<ReportSite>* const sites_;
  const char* const left_out_;
};

// Converts a struct. The field `left_out` becomes null.
template <class T>
Json ObjectWithout(const char* left_out, const T& value, const std::vector<ReportSite>* sites) {
  Json json;
  JsonFields fields(&json, sites, left_out);
  Fields(fields, const_cast<T&>(value));  // the visitor does not change it
  return json;
}

template <class T>
inline constexpr bool kIsOptional = false;
template <class T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <class T>
inline constexpr bool kIsVector = false;
template <class T>
inline constexpr bool kIsVector<std::vector<T>> = true;

template <class T>
Json ToJson(const T& value, const std::vector<ReportSite>* sites) {
  if constexpr (kIsOptional<T>) {
    return value ? ToJson(*value, sites) : Json(nullptr);
  } else if constexpr (kIsVector<T>) {
    Json array = Json::array();
    for (const auto& element : value) array.push_back(ToJson(element, sites));
    return array;
  } else if constexpr (std::is_same_v<T, ReportSiteIndex>) {
    return value.is_none() ? Json(nullptr) : Json(sites->at(value.value()).id);
  } else if constexpr (kHasNames<T>) {
    return NameOf(value);
  } else if constexpr (std::is_floating_point_v<T>) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
  } else if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::string>) {
    return value;
  } else {
    return ObjectWithout(nullptr, value, sites);
  }
}

// Formats JSON with one line for each field, and for each element of a list: convenient for grep and diff, and compact.
std::string JsonLines(const Json& json);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_JSON_FIELDS_H_
