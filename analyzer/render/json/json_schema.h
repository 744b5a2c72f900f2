// SPDX-License-Identifier: Apache-2.0
//
// Generates a JSON Schema (draft 7) for anything with a list of fields: see model/fields.h.
#ifndef ANALYZER_RENDER_JSON_JSON_SCHEMA_H_
#define ANALYZER_RENDER_JSON_JSON_SCHEMA_H_

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame_text.h"
#include "analyzer/render/json/json_fields.h"

namespace vramtrack {

// A visitor that describes each field of a struct, and the structs that it contains. Thread-compatible.
class SchemaFields {
 public:
  // Adds the struct T to `definitions` under its name, with the structs that it contains. Returns a reference to it.
  template <class T>
  static Json Define(Json* definitions) {
    const std::string name = TypeName<T>();
    if (!definitions->contains(name)) {
      (*definitions)[name] = nullptr;  // a struct that contains its own type finds this
      SchemaFields fields(definitions);
      T value;
      Fields(fields, value);
      (*definitions)[name] = fields.Object(kAbout<T>);
    }
    return {{"$ref", "#/definitions/" + name}};
  }

  template <class T>
  void operator()(uint32_t, const char* name, T&& value, const char* about = "") {
    about_ = about;
    Add(name, value);
  }

  Json Object(const std::string& about) const;

 private:
  explicit SchemaFields(Json* definitions) : definitions_(definitions) {}

  void Put(const std::string& name, Json schema, bool required = true);
  static Json Nullable(Json schema);
  static Json ListOf(Json schema) { return {{"type", "array"}, {"items", std::move(schema)}}; }
  static Json Pair(const char* first, Json first_schema, const char* second, Json second_schema);

  template <class T>
  Json Of(const T*) {
    if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_unsigned_v<T>) {
      return {{"type", "integer"}, {"minimum", 0}};
    } else if constexpr (std::is_integral_v<T>) {
      return {{"type", "integer"}};
    } else if constexpr (std::is_floating_point_v<T>) {
      return {{"type", {"number", "null"}}};
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, ReportSiteIndex>) {
      return {{"type", "string"}};
    } else if constexpr (kHasNames<T>) {
      Json names = Json::array();
      for (const char* name : EnumNames<T>::kNames) names.push_back(name);
      return {{"enum", std::move(names)}};
    } else {
      return Define<T>(definitions_);
    }
  }
  template <class T>
  Json Of(const std::optional<T>*) {
    return Nullable(Of(static_cast<T*>(nullptr)));
  }
  template <class T>
  Json Of(const std::vector<T>*) {
    return ListOf(Of(static_cast<T*>(nullptr)));
  }

  template <class T>
  void Add(const char* name, const T& value) {
    Put(name, Of(&value));
  }
  template <class T>
  void Add(const char* name, const field::OrNull<T>& wrapped) {
    Put(name, Nullable(Of(&wrapped.value)));
  }
  void Add(const char* name, const ReportSiteIndex& site) { Put(name, Nullable(Of(&site))); }
  template <class E>
  void Add(const char* name, const field::OneOf<E>& wrapped) {
    Json names = Json::array();
    for (const E choice : wrapped.choices) names.push_back(NameOf(choice));
    Put(name, {{"enum", std::move(names)}});
  }
  void Add(const char* name, const field::NamedCount& wrapped);
  void Add(const char* name, const field::Interval& wrapped);
  void Add(const char* name, const field::WholeIf&) { Put(name, {{"type", {"number", "null"}}}); }
  template <class T>
  void Add(const char* name, const field::IfSet<T>& wrapped) {
    Put(name, Of(&wrapped.value), false);
  }
  template <class T>
  void Add(const char* name, const field::Columns<T>& wrapped) {
    SchemaFields columns(definitions_);
    T row;
    Fields(columns, row);
    for (auto& [column, schema] : columns.properties_.items()) {
      Json about = schema.contains("description") ? schema["description"] : Json("");
      schema.erase("description");
      schema = ListOf(schema);
      if (about != "") schema["description"] = about;
      if (wrapped.inlined) {
        about_ = "";
        Put(column, schema);
      }
    }
    if (!wrapped.inlined) Put(name, columns.Object("a column for each field; all are equally long"));
  }
  template <class Pairs>
  void Add(const char* name, const field::Map<Pairs>&) {
    using Value = std::remove_const_t<typename Pairs::value_type::second_type>;
    Put(name, {{"type", "object"}, {"additionalProperties", Of(static_cast<Value*>(nullptr))}});
  }
  template <class Name, class T>
  void Add(const char* name, const field::NamedValues<Name, T>& wrapped) {
    Put(name, ListOf(Pair(wrapped.first, {{"type", "string"}}, wrapped.second, Of(static_cast<T*>(nullptr)))));
  }
  template <class T>
  void Add(const char*, const field::Inline<T>& wrapped) {
    Fields(*this, wrapped.value);
  }
  template <class T>
  void Add(const char*, const field::Inline<std::optional<T>>&) {
    SchemaFields fields(definitions_);
    T value;
    Fields(fields, value);
    for (auto& [name, schema] : fields.properties_.items()) Put(name, schema, false);
  }
  template <class T>
  void Add(const char* name, const field::Within<T>& wrapped) {
    Json& object = properties_[wrapped.object];
    SchemaFields within(definitions_);
    if constexpr (std::is_class_v<T>) {
      object["allOf"] = {{{"$ref", object["$ref"]}}, Define<T>(definitions_)};
      object.erase("$ref");
    } else {
      if (object.is_null()) {
        required_.push_back(wrapped.object);
        object = within.Object("");
      }
      within(0, name, wrapped.value, about_);
      object["properties"].update(within.properties_);
      object["required"].push_back(name);
    }
  }
  template <class T>
  void Add(const char*, const field::Internal<T>&) {}

  Json* const definitions_;
  const char* about_ = "";
  Json properties_ = Json::object(), required_ = Json::array();
};

// Return the texts of docs/report.schema.json and docs/diff.schema.json.
std::string ReportSchema();
std::string DiffSchema();

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_JSON_SCHEMA_H_
