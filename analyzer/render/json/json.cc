// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/json/json.h"

#include "analyzer/render/json/json_fields.h"

namespace vramtrack {
namespace {

std::string Compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

std::string JsonLines(const Json& json) {
  std::string text = "{";
  for (const auto& [key, value] : json.items()) {
    text += text.size() == 1 ? "\n" : ",\n";
    text += Compact(Json(key)) + ": ";
    if (!value.is_array() || value.empty()) {
      text += Compact(value);
      continue;
    }
    char before = '[';
    for (const Json& element : value) {
      text += before;
      text += "\n  " + Compact(element);
      before = ',';
    }
    text += "\n]";
  }
  return text + "\n}\n";
}

std::string RenderJson(const Report& report) { return JsonLines(ToJson(report, &report.sites)); }

std::string RenderJsonLine(const Report& report) { return Compact(ToJson(report, &report.sites)) + "\n"; }

std::string RenderLeakEvent(const std::string& target, const Report& report, const ReportSite& site) {
  return Compact({{"event", "leak"}, {"target", target}, {"site", ToJson(site, &report.sites)}}) + "\n";
}

std::string RenderFullEvent(const std::string& target, const Report& report, const ReportDevice& device) {
  return Compact({{"event", "device_full_soon"}, {"target", target}, {"device", ToJson(device, &report.sites)}}) + "\n";
}

std::string RenderDiffJson(const DiffReport& report) { return JsonLines(ToJson(report)); }

}  // namespace vramtrack
