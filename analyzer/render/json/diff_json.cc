// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/json/diff_json.h"

#include <utility>

#include "analyzer/render/json/json_values.h"

namespace vramtrack {
namespace {

Json SideJson(const DiffSide& side) {
  Json json;
  json["paths"] = side.paths;
  json["processes"] = Array(side.processes, ProcessJson);
  json["steps"] = StepsJson(side.steps);
  return json;
}

Json DivergenceJson(const std::optional<DiffDivergence>& divergence) {
  if (!divergence) return nullptr;
  Json json;
  json["event"] = divergence->event;
  json["rank"] = Optional(divergence->rank);
  json["base_frames"] = Array(divergence->base_frames, FrameJson);
  json["new_frames"] = Array(divergence->new_frames, FrameJson);
  return json;
}

Json ValueJson(const DiffValue& value) {
  Json json;
  json["base"] = Number(value.base);
  json["new"] = Number(value.next);
  json["delta"] = Number(value.delta());
  json["significant"] = value.significant;
  return json;
}

// Bytes held, which are whole.
Json BytesJson(const DiffValue& value) {
  Json json;
  json["base"] = static_cast<int64_t>(value.base);
  json["new"] = static_cast<int64_t>(value.next);
  json["delta"] = static_cast<int64_t>(value.delta());
  json["significant"] = value.significant;
  return json;
}

// One object with the device's index in front of each value.
template <typename Convert>
Json PerDevice(const DiffReport& report, Convert convert) {
  return Array(report.devices, [&](const DiffDevice& device) {
    Json json;
    json["device"] = device.index;
    json.update(convert(device));
    return json;
  });
}

Json FindingJson(const DiffFinding& finding) {
  Json json;
  json["level"] = finding.level;
  json["kind"] = finding.kind;
  json["category"] = finding.category;
  json["device"] = Optional(finding.device);
  json["base_site"] = Optional(finding.base_site);
  json["new_site"] = Optional(finding.new_site);
  json["base_value"] = Number(finding.base_value);
  json["new_value"] = Number(finding.new_value);
  json["delta"] = Number(finding.delta());
  json["unit"] = finding.unit;
  json["rate_unit"] = finding.rate_unit;
  json["p_value"] = finding.p_value ? Number(*finding.p_value) : Json(nullptr);
  json["effect_size"] = finding.effect_size ? Number(*finding.effect_size) : Json(nullptr);
  json["leak"] = finding.leak;
  json["base_leak"] = finding.base_leak;
  json["explanation"] = finding.explanation;
  json["naming_frame"] = finding.naming_frame;
  json["frames"] = Array(finding.frames, FrameJson);
  json["parts"] = Array(finding.parts, FindingJson);
  return json;
}

}  // namespace

std::string RenderDiffJson(const DiffReport& report) {
  Json json;
  json["schema_version"] = kDiffSchemaVersion;
  json["tool_version"] = report.tool_version;
  json["base"] = SideJson(report.base);
  json["new_run"] = SideJson(report.next);  // "new" is the list of new sites
  json["comparable"] = report.comparable;
  json["reason"] = report.reason;
  json["identical"] = report.identical;
  json["reordered"] = report.reordered;
  json["first_divergence"] = DivergenceJson(report.first_divergence);
  json["tested"] = report.tested;
  json["events"] = report.events;
  json["matched_sites"] = report.matched_sites;
  json["small_changes"] = report.small_changes;
  json["inferred_renames"] = Array(report.inferred_renames, [](const std::pair<std::string, std::string>& rename) {
    Json json;
    json["base"] = rename.first;
    json["new"] = rename.second;
    return json;
  });
  json["rate_unit"] = report.rate_unit;
  json["normaliser"] = report.normaliser;
  json["peak"] = PerDevice(report, [](const DiffDevice& device) { return BytesJson(device.peak); });
  json["reserved_peak"] = PerDevice(report, [](const DiffDevice& device) { return BytesJson(device.reserved_peak); });
  json["growth"] = PerDevice(report, [](const DiffDevice& device) { return ValueJson(device.growth); });
  json["fragmentation"] = PerDevice(report, [](const DiffDevice& device) { return BytesJson(device.fragmentation); });
  json["categories"] = PerDevice(report, [](const DiffDevice& device) {
    Json categories = Json::object();
    for (const auto& [name, value] : device.categories) categories[name] = BytesJson(value);
    Json json;
    json["categories"] = std::move(categories);
    return json;
  });
  json["new"] = Array(report.added, FindingJson);
  json["gone"] = Array(report.gone, FindingJson);
  json["grown"] = Array(report.grown, FindingJson);
  json["shrunk"] = Array(report.shrunk, FindingJson);
  json["moved"] = Array(report.moved, FindingJson);
  json["warnings"] = report.warnings;
  return JsonLines(json);
}

}  // namespace vramtrack
