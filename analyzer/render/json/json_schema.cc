// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/json/json_schema.h"

#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {
namespace {

// One line a field: fit for grep and diff.
void Write(const Json& json, size_t depth, std::string* text) {
  const std::string indent(2 * depth, ' ');
  char before = '{';
  for (const auto& [name, value] : json.items()) {
    *text += before + ("\n" + indent + "  ") + Json(name).dump() + ": ";
    before = ',';
    if (value.is_object() && (name == "properties" || name == "definitions" || value.contains("properties"))) {
      Write(value, depth + 1, text);
    } else {
      *text += value.dump();
    }
  }
  *text += "\n" + indent + "}";
}

template <class T>
std::string Schema(const char* title, const char* about) {
  Json definitions = Json::object();
  SchemaFields::Define<T>(&definitions);
  Json whole = definitions[TypeName<T>()];
  definitions.erase(TypeName<T>());
  Json schema;
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = title;
  schema["description"] = about;
  schema.update(whole);
  schema["definitions"] = std::move(definitions);
  std::string text;
  Write(schema, 0, &text);
  return text + "\n";
}

}  // namespace

Json SchemaFields::Object(const std::string& about) const {
  Json schema;
  schema["type"] = "object";
  if (!about.empty()) schema["description"] = about;
  schema["required"] = required_;
  schema["properties"] = properties_;
  return schema;
}

void SchemaFields::Put(const std::string& name, Json schema, bool required) {
  if (*about_ != '\0') schema["description"] = about_;
  if (required) required_.push_back(name);
  properties_[name] = std::move(schema);
}

Json SchemaFields::Nullable(Json schema) {
  if (schema.contains("enum")) {
    schema["enum"].push_back(nullptr);
    return schema;
  }
  if (!schema.contains("type")) return {{"anyOf", {{{"type", "null"}}, std::move(schema)}}};
  Json& type = schema["type"];
  if (type.is_string()) type = Json::array({type});
  if (type.back() != "null") type.push_back("null");
  return schema;
}

Json SchemaFields::Pair(const char* first, Json first_schema, const char* second, Json second_schema) {
  return {{"type", "object"},
          {"required", {first, second}},
          {"properties", {{first, std::move(first_schema)}, {second, std::move(second_schema)}}}};
}

void SchemaFields::Add(const char* name, const field::NamedCount& wrapped) {
  Put(name, Nullable(Pair("name", Of(&wrapped.name), "count", Of(&wrapped.count))));
}

void SchemaFields::Add(const char* name, const field::Interval& wrapped) {
  Json schema = ListOf(Of(&wrapped.low));
  schema["minItems"] = schema["maxItems"] = 2;
  Put(name, wrapped.or_null ? Nullable(std::move(schema)) : std::move(schema));
}

std::string ReportSchema() {
  return Schema<Report>("vramtrack report", "What `vramtrack report --format json` prints. Sizes are bytes.");
}

std::string DiffSchema() {
  return Schema<DiffReport>("vramtrack diff", "What `vramtrack diff --format json` prints. Sizes are bytes.");
}

}  // namespace vramtrack
