// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/json/picture_json.h"

#include <string>
#include <utility>
#include <vector>

namespace vramtrack {
namespace {

Json SeriesJson(const ReportTimeline::Series& series) {
  Json json;
  json["low"] = series.low;
  json["high"] = series.high;
  return json;
}

}  // namespace

Json KeptJson(const ReportKept& kept) {
  Json json;
  json["step"] = kept.step;
  json["bytes"] = kept.bytes;
  json["objects"] = kept.objects;
  json["fit"] = Array(kept.fit, [](const ReportKept::FitPoint& point) {
    Json json;
    json["step"] = point.step;
    json["bytes"] = Number(point.bytes);
    json["low"] = Number(point.low);
    json["high"] = Number(point.high);
    return json;
  });
  json["tested_steps"] = kept.tested_steps;
  json["first_tested_step"] = Optional(kept.first_tested_step);
  json["last_tested_step"] = Optional(kept.last_tested_step);
  json["steps_with_survivors"] = kept.steps_with_survivors;
  json["survivor_objects"] = kept.survivor_objects;
  json["survivor_bytes"] = kept.survivor_bytes;
  json["max_lifetime_steps"] = kept.max_lifetime_steps;
  return json;
}

Json SegmentMapJson(const ReportSegmentMap& map) {
  Json json;
  json["step"] = Optional(map.step);
  Json& segments = json["segments"] = Json::object();
  for (const char* name : {"address", "bytes", "pool", "sizes", "live", "blocks", "pinned_by"}) {
    segments[name] = Json::array();
  }
  for (const ReportSegmentMap::Segment& segment : map.segments) {
    segments["address"].push_back(segment.address);
    segments["bytes"].push_back(segment.bytes);
    segments["pool"].push_back(segment.pool);
    segments["sizes"].push_back(segment.sizes);
    segments["live"].push_back(segment.live);
    segments["blocks"].push_back(segment.blocks);
    segments["pinned_by"].push_back(Optional(segment.pinned_by));
  }
  Json& blocks = json["blocks"] = Json::object();
  for (const char* name : {"offset", "bytes", "site", "category"}) blocks[name] = Json::array();
  for (const ReportSegmentMap::Block& block : map.blocks) {
    blocks["offset"].push_back(block.offset);
    blocks["bytes"].push_back(block.bytes);
    blocks["site"].push_back(block.site.empty() ? Json(nullptr) : Json(block.site));
    blocks["category"].push_back(block.category);
  }
  json["other_segments"] = map.other_segments;
  json["other_bytes"] = map.other_bytes;
  return json;
}

Json CompositionJson(const ReportComposition& composition) {
  Json json;
  json["categories"] = Json::object();
  for (const auto& [name, bytes] : composition.categories) json["categories"][name] = bytes;
  json["sites"] = Array(composition.sites, [](const std::pair<std::string, std::vector<uint64_t>>& one) {
    Json json;
    json["site"] = one.first;
    json["bytes"] = one.second;
    return json;
  });
  json["other_sites"] = composition.other_sites;
  return json;
}

Json PeakStepJson(const ReportPeakStep& step) {
  Json json;
  json["step"] = Optional(step.step);
  json["event"] = step.event;
  json["seconds"] = Array(step.seconds, Number);
  json["live"] = step.live;
  json["consists_of"] = CompositionJson(step.consists_of);
  return json;
}

Json WithinStepsJson(const ReportWithinSteps& within) {
  Json json;
  json["events"] = within.events;
  json["position"] = Array(within.position, Number);
  json["low"] = within.low;
  json["high"] = within.high;
  return json;
}

Json TimelineJson(const ReportTimeline& timeline) {
  Json json;
  json["device"] = Optional(timeline.device);
  json["unit"] = timeline.unit;
  json["position"] = Array(timeline.position, Number);
  json["device_used"] = SeriesJson(timeline.device_used);
  json["reserved"] = SeriesJson(timeline.reserved);
  json["live"] = SeriesJson(timeline.live);
  Json categories = Json::object();
  for (const auto& [name, series] : timeline.categories) categories[name] = SeriesJson(series);
  json["categories"] = std::move(categories);
  json["at_high"] = CompositionJson(timeline.at_high);
  json["peak_step"] = timeline.peak_step ? PeakStepJson(*timeline.peak_step) : Json(nullptr);
  json["within_steps"] = timeline.within_steps ? WithinStepsJson(*timeline.within_steps) : Json(nullptr);
  return json;
}

Json RankCurveJson(const ReportRankCurve& curve) {
  Json json;
  json["order"] = curve.order;
  json["as"] = curve.as;
  json["device"] = curve.device;
  json["unit"] = curve.unit;
  json["position"] = Array(curve.position, Number);
  json["live"] = SeriesJson(curve.live);
  json["reserved"] = SeriesJson(curve.reserved);
  return json;
}

Json PeakStacksJson(const ReportPeakStacks& stacks) {
  Json json;
  json["device"] = Optional(stacks.device);
  json["live"] = stacks.live;
  for (const char* name : {"parent", "site", "frame", "bytes", "sites"}) json[name] = Json::array();
  for (const ReportPeakStacks::Node& node : stacks.nodes) {
    json["parent"].push_back(Optional(node.parent));
    json["site"].push_back(node.site);
    json["frame"].push_back(node.frame);
    json["bytes"].push_back(node.bytes);
    json["sites"].push_back(node.sites);
  }
  json["other_bytes"] = stacks.other_bytes;
  return json;
}

}  // namespace vramtrack
