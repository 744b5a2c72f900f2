// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/json/json.h"

#include <utility>

#include "analyzer/model/answer.h"
#include "analyzer/render/json/json_fields.h"
#include "analyzer/render/json/json_values.h"
#include "analyzer/render/json/picture_json.h"

namespace vramtrack {
namespace {

Json MomentJson(const ReportMoment& moment) {
  Json json;
  json["step"] = Optional(moment.step);
  json["device_used"] = moment.device_used;
  json["reserved"] = moment.reserved;
  json["live"] = moment.live;
  if (moment.framework) {
    json["cached"] = moment.framework->cached;
    json["others"] = moment.framework->others;
    json["overhead"] = moment.framework->overhead;
    json["unattributed"] = moment.framework->unattributed;
  }
  return json;
}

Json GrowthJson(const ReportGrowth& growth) {
  Json json;
  json["bytes_per_step"] = Number(growth.bytes_per_step);
  json["ci_low"] = Number(growth.ci_low);
  json["ci_high"] = Number(growth.ci_high);
  json["steps_to_oom"] = growth.steps_to_oom ? Number(*growth.steps_to_oom) : Json(nullptr);
  return json;
}

Json GrowthOfJson(const ReportGrowth& growth) {
  Json json = GrowthJson(growth);
  json["steps_to_oom_ci"] = nullptr;
  if (growth.steps_to_oom) {
    json["steps_to_oom_ci"] = Json::array({Number(growth.steps_to_oom_low), Number(growth.steps_to_oom_high)});
  }
  json["seconds_to_oom"] = growth.seconds_to_oom ? Number(*growth.seconds_to_oom) : Json(nullptr);
  json["refused"] = growth.refused;
  return json;
}

Json GrowthsJson(const ReportGrowths& growths) {
  Json json;
  json["live"] = GrowthOfJson(growths.live);
  json["reserved"] = GrowthOfJson(growths.reserved);
  json["device_used"] = GrowthOfJson(growths.device_used);
  return json;
}

Json PinJson(const ReportPin& pin) {
  Json json;
  json["site"] = pin.site.empty() ? Json(nullptr) : Json(pin.site);
  json["segments"] = pin.segments;
  json["bytes"] = pin.bytes;
  json["stack"] = Array(pin.stack, FrameJson);
  return json;
}

Json ReserveGrowthJson(const ReportReserveGrowth& growth) {
  Json json;
  json["bytes_per_step"] = Number(growth.bytes_per_step);
  json["ci_low"] = Number(growth.ci_low);
  json["ci_high"] = Number(growth.ci_high);
  json["first_step"] = Optional(growth.first_step);
  json["stairs"] = growth.stairs;
  json["segments"] = growth.segments;
  json["bytes"] = growth.bytes;
  json["pools"] = growth.pools;
  json["stacks"] = growth.stacks;
  json["free_releasable"] = growth.free_releasable;
  json["free_pinned"] = growth.free_pinned;
  json["sizes"] = Array(growth.sizes, [](const ReportGrownSegments& grown) {
    Json json;
    json["sizes"] = grown.sizes;
    json["pools"] = grown.pools;
    json["segment_bytes"] = grown.segment_bytes;
    json["segments"] = grown.segments;
    json["bytes"] = grown.bytes;
    return json;
  });
  json["pins"] = Array(growth.pins, PinJson);
  json["explanation"] = growth.explanation;
  return json;
}

Json FragmentationJson(const ReportFragmentation& fragmentation) {
  Json json;
  json["reserved"] = fragmentation.reserved;
  json["live"] = fragmentation.live;
  json["rounding"] = fragmentation.rounding;
  json["free_releasable"] = fragmentation.free_releasable;
  json["free_pinned"] = fragmentation.free_pinned;
  json["lower_bound"] = fragmentation.lower_bound;
  json["upper_bound"] = fragmentation.upper_bound;
  json["advice"] = Array(fragmentation.advice, [](const ReportAdvice& advice) {
    Json json;
    json["text"] = advice.text;
    json["setting"] = advice.setting.empty() ? Json(nullptr) : Json(advice.setting);
    json["reserved_before"] = advice.reserved_before;
    json["reserved_after"] = advice.reserved_after;
    json["saved_bytes"] = advice.saved_bytes;
    return json;
  });
  if (!fragmentation.at_reserved_peak) return json;
  const ReportSegmentUse& use = *fragmentation.at_reserved_peak;
  Json& at_peak = json["at_reserved_peak"];
  at_peak["step"] = Optional(use.step);
  at_peak["reserved"] = use.reserved;
  at_peak["live"] = use.live;
  at_peak["free_releasable"] = use.free_releasable;
  at_peak["free_pinned"] = use.free_pinned;
  json["map"] = fragmentation.map ? SegmentMapJson(*fragmentation.map) : Json(nullptr);
  json["pins"] = Array(fragmentation.pins, PinJson);
  json["pools"] = Array(fragmentation.pools, [](const ReportSegmentPool& pool) {
    Json json;
    json["pool"] = pool.pool;
    json["sizes"] = pool.sizes;
    json["segments"] = pool.segments;
    json["reserved"] = pool.reserved;
    json["live"] = pool.live;
    json["free_releasable"] = pool.free_releasable;
    json["largest_free"] = pool.largest_free;
    json["external"] = Number(pool.external);
    json["unusable"] = Number(pool.unusable);
    return json;
  });
  json["growth"] = fragmentation.growth ? ReserveGrowthJson(*fragmentation.growth) : Json(nullptr);
  json["model"]["blocks"] = fragmentation.model_blocks;
  json["model"]["surprises"] = fragmentation.model_surprises;
  return json;
}

void AddPeakSet(const ReportPeakSet& set, Json* peak) {
  (*peak)["categories"] = Array(set.categories, [](const ReportPeakCategory& category) {
    Json json;
    json["name"] = category.name;
    json["bytes"] = category.bytes;
    json["confidence"] = Number(category.confidence);
    json["evidence"] = Json::object();
    for (const auto& [name, bytes] : category.evidence) json["evidence"][name] = bytes;
    return json;
  });
  (*peak)["ages"] = Array(set.ages, [](const ReportPeakShare& age) {
    Json json;
    json["age"] = age.name;
    json["objects"] = age.objects;
    json["bytes"] = age.bytes;
    return json;
  });
  (*peak)["sizes"] = Array(set.sizes, [](const ReportSizeClass& size) {
    Json json;
    json["up_to"] = Optional(size.up_to);
    json["objects"] = size.objects;
    json["bytes"] = size.bytes;
    return json;
  });
  (*peak)["without"] = Array(set.without, [](const ReportPeakWithout& without) {
    Json json;
    json["sites"] = without.sites;
    json["peak"] = without.peak;
    return json;
  });
}

Json PatternJson(const ReportPattern& pattern) {
  Json json;
  json["pattern"] = pattern.pattern;
  json["category"] = pattern.category;
  json["site"] = pattern.site.empty() ? Json(nullptr) : Json(pattern.site);
  json["sites"] = pattern.sites;
  json["objects"] = pattern.objects;
  json["bytes"] = pattern.bytes;
  json["peak_saved"] = pattern.peak_saved;
  json["explanation"] = pattern.explanation;
  return json;
}

Json DeviceJson(const ReportDevice& device) {
  Json json;
  json["index"] = device.index;
  json["name"] = device.name;
  json["total_bytes"] = device.total_bytes;
  json["peak"] = MomentJson(device.peak);
  AddPeakSet(device.peak_set, &json["peak"]);
  json["end"] = MomentJson(device.end);
  json["last_step"] = device.last_step ? MomentJson(*device.last_step) : Json(nullptr);
  json["growth"] = device.growth ? GrowthJson(*device.growth) : Json(nullptr);
  json["unexplained_growth"] = Number(device.unexplained_growth);
  json["growth_of"] = device.growth_of ? GrowthsJson(*device.growth_of) : Json(nullptr);
  json["fragmentation"] = FragmentationJson(device.fragmentation);
  json["memory_pools"] = Array(device.memory_pools, [](const ReportMemoryPool& pool) {
    Json json;
    json["pool"] = pool.pool;
    json["allocations"] = pool.allocations;
    json["trims"] = pool.trims;
    json["release_threshold"] = Optional(pool.release_threshold);
    json["peak_live"] = pool.peak_live;
    json["lower_bound"] = pool.lower_bound;
    json["upper_bound"] = pool.upper_bound;
    json["step"] = Optional(pool.step);
    json["reserved"] = pool.reserved;
    json["live"] = pool.live;
    json["rounding"] = pool.rounding;
    json["free_pinned"] = pool.free_pinned;
    json["free_releasable"] = pool.free_releasable;
    json["free_releasable_at_least"] = pool.free_releasable_at_least;
    return json;
  });
  json["unattributed_bytes"] = device.unattributed_bytes;
  const auto owner = [](const std::pair<std::string, uint64_t>& other) {
    Json json;
    json["owner"] = other.first;
    json["bytes"] = other.second;
    return json;
  };
  json["only_cupti"] = Array(device.only_cupti, [](const ReportOnlyCupti& only) {
    Json json;
    json["library"] = only.library;
    json["at_peak"] = only.at_peak;
    json["at_end"] = only.at_end;
    return json;
  });
  json["work"] = device.work ? WorkJson(*device.work) : Json(nullptr);
  json["patterns"] = Array(device.patterns, PatternJson);
  json["other_owners"] = Array(device.other_owners, owner);
  json["rank"] = Optional(device.rank);
  json["pid"] = device.pid;
  json["processes"] = device.processes;
  return json;
}

Json LeakJson(const ReportLeak& leak) {
  Json json;
  json["rate_bytes_per_step"] = Number(leak.rate_bytes_per_step);
  json["rate_ci"] = Json::array({Number(leak.rate_ci_low), Number(leak.rate_ci_high)});
  json["rate_objects_per_step"] = Number(leak.rate_objects_per_step);
  json["live_bytes"] = leak.live_bytes;
  json["bytes_at_peak"] = leak.bytes_at_peak;
  json["peak_without"] = leak.peak_without;
  return json;
}

Json AcrossJson(const ReportAcross& across) {
  Json json;
  json["ranks"] = across.ranks;
  json["leak"] = across.leak;
  json["not_enough"] = across.not_enough;
  json["no_leak"] = across.no_leak;
  json["rate"] = nullptr;
  if (!across.rate) return json;
  const ReportAcross::Rate& rate = *across.rate;
  Json& pooled = json["rate"];
  pooled["of"] = rate.of;
  pooled["mean"] = Number(rate.mean);
  pooled["ci"] = Json::array({Number(rate.ci_low), Number(rate.ci_high)});
  pooled["least"] = Number(rate.least);
  pooled["median"] = Number(rate.median);
  pooled["most"] = Number(rate.most);
  pooled["standard_deviation"] = Number(rate.standard_deviation);
  pooled["most_rank"] = Optional(rate.most_rank);
  pooled["most_pid"] = rate.most_pid;
  return json;
}

}  // namespace

Json SiteFields(const ReportSite& site) {
  Json json;
  json["id"] = site.id;
  json["level"] = site.level;
  json["kind"] = site.kind;
  json["device"] = Optional(site.device);
  json["owner"] = site.owner;
  json["category"] = site.category;
  json["verdict"] = site.verdict;
  json["grade"] = site.grade;
  json["explanation"] = site.explanation;
  json["rate_bytes_per_step"] = Number(site.rate_bytes_per_step);
  json["rate_ci"] = Json::array({Number(site.rate_ci_low), Number(site.rate_ci_high)});
  json["rate_objects_per_step"] = Number(site.rate_objects_per_step);
  json["rate_unit"] = site.rate_unit;
  json["step_name"] = site.step_name.empty() ? Json(nullptr) : Json(site.step_name);
  json["rate_bytes_per_second"] = Number(site.rate_bytes_per_second);
  json["onset_step"] = Optional(site.onset_step);
  json["further_steps_needed"] = Optional(site.further_steps_needed);
  json["allocations"] = site.allocations;
  json["frees"] = site.frees;
  json["bytes_allocated"] = site.bytes_allocated;
  json["live_objects"] = site.live_objects;
  json["live_bytes"] = site.live_bytes;
  json["bytes_at_peak"] = site.bytes_at_peak;
  json["peak_without_site"] = site.peak_without_site;
  json["part_of"] = site.part_of.empty() ? Json(nullptr) : Json(site.part_of);
  json["parts"] = site.parts;
  json["group"] = site.group ? LeakJson(*site.group) : Json(nullptr);
  json["kept"] = site.kept ? KeptJson(*site.kept) : Json(nullptr);
  json["across"] = site.across ? AcrossJson(*site.across) : Json(nullptr);
  json["last_use"] = site.last_use ? LastUseJson(*site.last_use) : Json(nullptr);
  json["first_kernel"] = site.first_kernel ? FirstKernelJson(*site.first_kernel) : Json(nullptr);
  json["blame_frame"] = site.blame_frame;
  json["own_frame"] = Optional(site.own_frame);
  return json;
}

namespace {

Json SiteJson(const ReportSite& site) {
  Json json = SiteFields(site);
  json["frames"] = Array(site.frames, FrameJson);
  return json;
}

Json PeakLinesJson(const ReportPeakLines& lines) {
  Json json;
  json["device"] = Optional(lines.device);
  json["live"] = lines.live;
  json["lines"] = Array(lines.lines, [](const ReportPeakLine& line) {
    Json json;
    json["line"] = line.line ? FrameJson(*line.line) : Json(nullptr);
    json["site"] = line.site.empty() ? Json(nullptr) : Json(line.site);
    json["leak"] = line.leak;
    json["sites"] = line.sites;
    json["bytes"] = line.bytes;
    json["peak_without"] = line.peak_without;
    json["category"] = line.category.empty() ? Json(nullptr) : Json(line.category);
    return json;
  });
  json["other_sites"] = lines.other_sites;
  json["other_bytes"] = lines.other_bytes;
  return json;
}

Json NamedBytesJson(const std::pair<std::string, uint64_t>& named) {
  Json json;
  json["name"] = named.first;
  json["bytes"] = named.second;
  return json;
}

Json OomJson(const ReportOom& oom) {
  Json json;
  json["step"] = Optional(oom.step);
  json["seconds"] = Number(oom.seconds);
  json["device"] = oom.device;
  json["requested"] = oom.requested;
  json["free"] = Optional(oom.free);
  json["largest_free"] = Optional(oom.largest_free);
  json["cause"] = oom.cause.empty() ? Json(nullptr) : Json(oom.cause);
  json["level"] = oom.level;
  json["live"] = Optional(oom.live);
  json["reserved"] = Optional(oom.reserved);
  json["largest_hole"] = Optional(oom.largest_hole);
  json["device_free"] = Optional(oom.device_free);
  json["pool"] = oom.pool.empty() ? Json(nullptr) : Json(oom.pool);
  json["pool_hole"] = Optional(oom.pool_hole);
  json["segment_bytes"] = Optional(oom.segment_bytes);
  json["stack"] = Array(oom.stack, FrameJson);
  json["holders"] = Array(oom.holders, [](const std::pair<std::string, uint64_t>& holder) {
    Json json;
    json["site"] = holder.first;
    json["bytes"] = holder.second;
    return json;
  });
  json["would_fit"] = Array(oom.would_fit, [](const std::pair<std::string, uint64_t>& fit) {
    Json json;
    json["setting"] = fit.first;
    json["free_bytes"] = fit.second;
    return json;
  });
  json["categories"] = Array(oom.categories, NamedBytesJson);
  json["compared_step"] = Optional(oom.compared_step);
  json["same_point"] = oom.same_point;
  json["then"] = oom.then;
  json["now"] = oom.now;
  json["changes"] = Array(oom.changes, [](const ReportOom::Change& change) {
    Json json;
    json["site"] = change.site;
    json["then"] = change.then;
    json["now"] = change.now;
    return json;
  });
  json["size_ratio"] = oom.size_ratio ? Number(*oom.size_ratio) : Json(nullptr);
  json["rank"] = Optional(oom.rank);
  json["pid"] = oom.pid;
  return json;
}

Json RankJson(const ReportRank& rank) {
  Json json;
  json["rank"] = Optional(rank.rank);
  json["pid"] = rank.pid;
  json["devices"] = rank.devices;
  json["peak_live"] = rank.peak_live;
  json["categories"] = Array(rank.categories, NamedBytesJson);
  json["end_live"] = rank.end_live;
  json["growth_bytes_per_step"] = rank.growth_bytes_per_step ? Number(*rank.growth_bytes_per_step) : Json(nullptr);
  json["leaks"] = rank.leaks;
  json["leak_bytes_per_step"] = Number(rank.leak_bytes_per_step);
  json["differs"] = Array(rank.differs, [](const ReportRank::Difference& difference) {
    Json json;
    json["what"] = difference.what;
    json["value"] = Number(difference.value);
    json["usual"] = Number(difference.usual);
    json["site"] = difference.site.empty() ? Json(nullptr) : Json(difference.site);
    json["category"] = difference.category.empty() ? Json(nullptr) : Json(difference.category);
    return json;
  });
  json["curve"] = rank.curve ? RankCurveJson(*rank.curve) : Json(nullptr);
  return json;
}

Json ReleaseJson(const ReportRelease& release) {
  Json json;
  json["calls"] = release.calls;
  json["segments"] = release.segments;
  json["bytes"] = release.bytes;
  json["least"] = release.least;
  json["most"] = release.most;
  json["times"] = Array(release.times, [](const ReportRelease::Call& call) {
    Json json;
    json["step"] = Optional(call.step);
    json["seconds"] = Number(call.seconds);
    json["bytes"] = call.bytes;
    return json;
  });
  json["stack"] = Array(release.stack, FrameJson);
  json["processes"] = release.processes;
  return json;
}

}  // namespace

Json ReportFields(const Report& report, Json sites) {
  Json json;
  json["schema_version"] = kReportSchemaVersion;
  json["tool_version"] = report.tool_version;
  json["processes"] = Array(report.processes, ProcessJson);
  json["answer"] = AnswerName(AnswerOf(report));
  json["steps"] = StepsJson(report.steps);
  json["devices"] = Array(report.devices, DeviceJson);
  json["sites"] = std::move(sites);
  Json verdict_counts = Json::object();
  for (const auto& [verdict, sites] : report.verdict_counts) verdict_counts[verdict] = sites;
  json["verdict_counts"] = std::move(verdict_counts);
  json["further_steps_needed"] = Optional(report.further_steps_needed);
  json["ranking"] = report.ranking;
  json["timeline"] = Array(report.timeline, TimelineJson);
  json["peak_lines"] = Array(report.peak_lines, PeakLinesJson);
  json["peak_stacks"] = Array(report.peak_stacks, PeakStacksJson);
  json["oom"] = Array(report.oom, OomJson);
  json["releases"] = Array(report.releases, ReleaseJson);
  json["ranks"] = Array(report.ranks, RankJson);
  json["warnings"] = report.warnings;
  json["unsure"] = report.unsure;
  return json;
}

std::string RenderJson(const Report& report) { return JsonLines(ReportFields(report, Array(report.sites, SiteJson))); }

}  // namespace vramtrack
