// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/json_values.h"

namespace vramtrack {
namespace {

std::string Compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace

Json ProcessJson(const ReportProcess& process) {
  Json json;
  json["pid"] = process.pid;
  json["parent_pid"] = process.parent_pid;
  json["rank"] = Optional(process.rank);
  json["command"] = process.command;
  json["complete"] = process.complete;
  json["incomplete_why"] = process.incomplete_why;
  json["events"] = process.events;
  json["lost_events"] = process.lost_events;
  json["duration_s"] = Number(process.duration_s);
  return json;
}

Json StepsJson(const ReportSteps& steps) {
  Json json;
  json["count"] = steps.count;
  json["source"] = steps.source;
  json["confidence"] = Number(steps.confidence);
  json["unit"] = steps.unit;
  json["window_bytes"] = steps.unit == "window" ? Json(steps.window_bytes) : Json(nullptr);
  return json;
}

Json FrameJson(const ReportFrame& frame) {
  Json json;
  json["function"] = frame.function;
  json["file"] = frame.file;
  json["line"] = frame.line;
  json["module"] = frame.module;
  json["offset"] = frame.offset;
  json["language"] = frame.language;
  if (frame.forward) json["forward"] = true;
  return json;
}

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

}  // namespace vramtrack
