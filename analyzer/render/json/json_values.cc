// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/json/json_values.h"

namespace vramtrack {
namespace {

std::string Compact(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json OnlyCuptiJson(const ReportActivities::OnlyCupti& only) {
  Json json;
  json["library"] = only.library;
  json["kind"] = only.kind;
  json["device"] = only.device;
  json["allocations"] = only.allocations;
  json["bytes"] = only.bytes;
  json["live_objects"] = only.live_objects;
  json["live_bytes"] = only.live_bytes;
  return json;
}

Json OnlyHooksJson(const ReportActivities::OnlyHooks& only) {
  Json json;
  json["kind"] = only.kind;
  json["allocations"] = only.allocations;
  json["bytes"] = only.bytes;
  json["reported"] = only.reported;
  return json;
}

Json MissingJson(const ReportActivities::Missing& missing) {
  Json json;
  json["from_s"] = Number(missing.from_s);
  json["to_s"] = Number(missing.to_s);
  json["why"] = missing.why;
  return json;
}

Json WorkKindJson(const ReportWork::Kind& kind) {
  Json json;
  json["kind"] = kind.kind;
  json["count"] = kind.count;
  json["busy_s"] = Number(kind.busy_s);
  json["per_step"] = kind.per_step;
  json["least_per_step"] = kind.least_per_step;
  json["most_per_step"] = kind.most_per_step;
  json["busy_s_per_step"] = Number(kind.busy_s_per_step);
  return json;
}

Json ActivitiesJson(const ReportActivities& activities) {
  Json json;
  json["records"] = activities.records;
  json["dropped"] = activities.dropped;
  json["unwritten"] = activities.unwritten;
  json["joined"] = activities.joined;
  json["joined_bytes"] = activities.joined_bytes;
  json["other_sizes"] = activities.other_sizes;
  json["only_cupti"] = Array(activities.only_cupti, OnlyCuptiJson);
  json["only_hooks"] = Array(activities.only_hooks, OnlyHooksJson);
  json["missing"] = Array(activities.missing, MissingJson);
  return json;
}

}  // namespace

Json ProcessJson(const ReportProcess& process) {
  Json json;
  json["pid"] = process.pid;
  json["parent_pid"] = process.parent_pid;
  json["rank"] = Optional(process.rank);
  json["command"] = process.command;
  json["run_id"] = process.run_id.empty() ? Json(nullptr) : Json(process.run_id);
  json["complete"] = process.complete;
  json["incomplete_why"] = process.incomplete_why;
  json["events"] = process.events;
  json["lost_events"] = process.lost_events;
  json["duration_s"] = Number(process.duration_s);
  json["activities"] = process.activities ? ActivitiesJson(*process.activities) : Json(nullptr);
  return json;
}

Json StepsJson(const ReportSteps& steps) {
  Json json;
  json["count"] = steps.count;
  json["source"] = steps.source;
  json["confidence"] = Number(steps.confidence);
  json["unit"] = steps.unit;
  json["window_bytes"] = steps.unit == "window" ? Json(steps.window_bytes) : Json(nullptr);
  json["rounds"] = Array(steps.rounds, [](const ReportStepRounds& rounds) {
    Json json;
    json["steps"] = rounds.steps;
    json["count"] = rounds.count;
    return json;
  });
  json["name"] = steps.name.empty() ? Json(nullptr) : Json(steps.name);
  json["coverage"] = Number(steps.coverage);
  json["judged"] = Number(steps.judged);
  if (steps.runner_up.empty()) {
    json["runner_up"] = nullptr;
  } else {
    json["runner_up"]["name"] = steps.runner_up;
    json["runner_up"]["count"] = steps.runner_up_count;
  }
  json["phases"] = Array(steps.phases, [](const ReportPhase& phase) {
    Json json;
    json["source"] = phase.source;
    json["name"] = phase.name.empty() ? Json(nullptr) : Json(phase.name);
    json["unit"] = phase.unit;
    json["count"] = phase.count;
    json["first_step"] = phase.first_step;
    json["share"] = Number(phase.share);
    return json;
  });
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

Json WorkJson(const ReportWork& work) {
  Json json;
  json["kinds"] = Array(work.kinds, WorkKindJson);
  json["busy_s"] = Number(work.busy_s);
  json["steps"] = work.steps;
  json["busy_s_per_step"] = Number(work.busy_s_per_step);
  json["busy_share"] = Number(work.busy_share);
  return json;
}

Json LastUseJson(const ReportLastUse& last) {
  Json json;
  json["objects"] = last.objects;
  json["latest_s"] = Number(last.latest_s);
  json["latest_step"] = Optional(last.latest_step);
  json["idle_s"] = Number(last.idle_s);
  return json;
}

Json FirstKernelJson(const ReportFirstKernel& first) {
  Json json;
  json["function"] = first.function;
  json["share"] = Number(first.share);
  return json;
}

}  // namespace vramtrack
