// SPDX-License-Identifier: Apache-2.0
//
// The result of comparing two runs as plain data: the renderers and `check` read it and compute nothing. Names are
// those of the JSON (docs/diff.md). Sizes are integers in bytes.
#ifndef ANALYZER_MODEL_DIFF_REPORT_H_
#define ANALYZER_MODEL_DIFF_REPORT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/frame.h"
#include "analyzer/model/run.h"

namespace vramtrack {

constexpr uint64_t kDiffSchemaVersion = 1;

// One of the two runs.
struct DiffSide {
  std::vector<std::string> paths;
  std::vector<ReportProcess> processes;
  ReportSteps steps;
  std::string incomplete;
};

template <>
inline constexpr const char* kAbout<DiffSide> = "One of the two runs";
template <class Visitor>
void Fields(Visitor& visit, DiffSide& side) {
  visit(0, "paths", side.paths, "what was compared");
  visit(0, "processes", side.processes, "the processes of the run");
  visit(0, "steps", side.steps, "where its steps end");
  visit(0, "incomplete", side.incomplete,
        "why too much of the record is missing to say that nothing changed; empty if it is not");
}

struct DiffValue {
  double base = 0, next = 0;
  bool significant = false;
  bool whole = true;  // both are whole numbers

  double delta() const { return next - base; }
};

template <>
inline constexpr const char* kAbout<DiffValue> = "A figure in both runs";
template <class Visitor>
void Fields(Visitor& visit, DiffValue& value) {
  double delta = value.delta();
  visit(0, "base", field::WholeIf{value.base, value.whole}, "in the base");
  visit(0, "new", field::WholeIf{value.next, value.whole}, "in the new run");
  visit(0, "delta", field::WholeIf{delta, value.whole}, "new minus base");
  visit(0, "significant", value.significant, "whether the difference is larger than chance and large enough to matter");
}

struct DiffDevice {
  uint32_t index = 0;
  DiffValue peak;                                             // bytes live
  DiffValue reserved_peak;                                    // bytes
  DiffValue growth;                                           // bytes per rate_unit
  DiffValue fragmentation;                                    // bytes reserved at the peak and not live
  std::vector<std::pair<std::string, DiffValue>> categories;  // bytes live at the peak
};

// A change in one figure of a device.
struct DiffOfDevice {
  uint32_t device = 0;
  DiffValue value;
};

template <>
inline constexpr const char* kAbout<DiffOfDevice> = "A figure of a device in both runs";
template <class Visitor>
void Fields(Visitor& visit, DiffOfDevice& of) {
  visit(0, "device", of.device, "index of the device");
  visit(0, "value", field::Inline{of.value});
}

struct DiffCategories {
  uint32_t device = 0;
  std::vector<std::pair<std::string, DiffValue>> categories;
};

template <class Visitor>
void Fields(Visitor& visit, DiffCategories& of) {
  visit(0, "device", of.device);
  visit(0, "categories", field::Map{of.categories});
}

struct DiffFinding {
  Level level = Level::kDriver;
  std::string kind, category;
  std::optional<uint32_t> device;
  std::optional<std::string> base_site, new_site;
  std::vector<ReportFrame> frames;
  size_t naming_frame = 0;
  double base_value = 0, new_value = 0;
  ChangeUnit unit = ChangeUnit::kBytesLivePerStep;
  RateUnit rate_unit = RateUnit::kStep;
  std::optional<double> p_value;
  std::optional<double> effect_size;
  bool leak = false;
  bool base_leak = false;
  std::string explanation;
  std::vector<DiffFinding> parts;

  double delta() const { return new_value - base_value; }
};

template <>
inline constexpr const char* kAbout<DiffFinding> = "A site that changed";
template <class Visitor>
void Fields(Visitor& visit, DiffFinding& finding) {
  double delta = finding.delta();
  visit(0, "level", finding.level, "as of a site, here and in the next two");
  visit(0, "kind", finding.kind);
  visit(0, "category", finding.category);
  visit(0, "device", finding.device, "`null` for host memory");
  visit(0, "base_site", finding.base_site, "id in the report of the base; `null` if the site is not in it");
  visit(0, "new_site", finding.new_site, "id in the report of the new run; `null` if the site is not in it");
  visit(0, "base_value", finding.base_value, "the value in the base, in `unit`");
  visit(0, "new_value", finding.new_value, "the value in the new run");
  visit(0, "delta", delta, "new minus base");
  visit(0, "unit", finding.unit,
        "of the values: left behind by a step, at the peak of the device, allocated by a step, left behind");
  visit(0, "rate_unit", finding.rate_unit, "what rates are per");
  visit(0, "p_value", finding.p_value, "`null`: not tested");
  visit(0, "effect_size", finding.effect_size, "Cliff's delta, -1 to 1");
  visit(0, "leak", finding.leak, "whether the site leaks in the new run");
  visit(0, "base_leak", finding.base_leak, "whether it leaks in the base");
  visit(0, "explanation", finding.explanation, "one sentence");
  visit(0, "naming_frame", finding.naming_frame, "index of the frame that names it");
  visit(0, "frames", finding.frames, "call stack, most recent call first: that of the new run if it has the site");
  visit(0, "parts", finding.parts,
        "of a leak, its other sites, whose values are in those above; the largest first. They have no parts");
}

// Returns whether the values are of what a step leaves behind: a leak that is new, gone or changed.
inline bool IsRate(const DiffFinding& finding) {
  return finding.unit == ChangeUnit::kBytesLivePerStep || finding.unit == ChangeUnit::kObjectsPerStep;
}

struct DiffDivergence {
  uint64_t event = 0;
  std::optional<int> rank;
  std::vector<ReportFrame> base_frames, new_frames;
};

template <>
inline constexpr const char* kAbout<DiffDivergence> = "Where two sequences of allocations and frees part";
template <class Visitor>
void Fields(Visitor& visit, DiffDivergence& divergence) {
  visit(0, "event", divergence.event, "the number of the allocation or free, from 0");
  visit(0, "rank", divergence.rank, "of the process");
  visit(0, "base_frames", divergence.base_frames, "call stack of that event in the base; empty if the base ends there");
  visit(0, "new_frames", divergence.new_frames, "the same of the new run");
}

struct DiffReport {
  std::string tool_version;
  DiffSide base, next;
  bool comparable = true;
  std::string reason;
  bool identical = false;
  bool reordered = false;
  bool tested = false;
  uint64_t events = 0;
  uint64_t matched_sites = 0;
  uint64_t small_changes = 0;
  std::optional<DiffDivergence> first_divergence;
  std::vector<std::pair<std::string, std::string>> inferred_renames;
  RateUnit rate_unit = RateUnit::kStep;
  std::string normaliser;
  std::vector<DiffDevice> devices;
  std::vector<DiffFinding> added, gone, grown, shrunk, moved;
  std::vector<std::string> warnings;
};

template <class Visitor>
void Fields(Visitor& visit, DiffReport& report) {
  uint64_t version = kDiffSchemaVersion;
  const auto of_devices = [&report](DiffValue DiffDevice::*value, bool whole) {
    std::vector<DiffOfDevice> of;
    for (const DiffDevice& device : report.devices) {
      of.push_back({device.index, device.*value});
      of.back().value.whole = whole;
    }
    return of;
  };
  std::vector<DiffOfDevice> peak = of_devices(&DiffDevice::peak, true),
                            reserved = of_devices(&DiffDevice::reserved_peak, true),
                            growth = of_devices(&DiffDevice::growth, false),
                            fragmentation = of_devices(&DiffDevice::fragmentation, true);
  std::vector<DiffCategories> categories;
  for (const DiffDevice& device : report.devices) categories.push_back({device.index, device.categories});
  visit(0, "schema_version", version, "1; fields may be added without a new one");
  visit(0, "tool_version", report.tool_version, "of vramtrack");
  visit(0, "base", report.base);
  visit(0, "new_run", report.next, "`new` is the list of new sites");
  visit(0, "comparable", report.comparable, "`false` for unrelated programs: nothing else is claimed then");
  visit(0, "reason", report.reason, "why not; empty if they are comparable");
  visit(0, "identical", report.identical, "the same allocations and frees in the same order");
  visit(0, "reordered", report.reordered, "the same ones in another order");
  visit(0, "first_divergence", report.first_divergence, "where the two sequences part; `null` if that is not known");
  visit(0, "tested", report.tested, "there were steps enough to tell a change from chance");
  visit(0, "events", report.events, "allocations and frees of the new run that were compared");
  visit(0, "matched_sites", report.matched_sites);
  visit(0, "small_changes", report.small_changes, "sites that changed too little to be findings");
  visit(0, "inferred_renames", field::NamedValues{report.inferred_renames, "base", "new"},
        "names that are taken to have changed, in addition to those that the caller gave");
  visit(0, "rate_unit", report.rate_unit, "what rates are per");
  visit(0, "normaliser", report.normaliser,
        "what makes steps of the two runs comparable, in words; empty: nothing had to");
  visit(0, "peak", peak, "bytes live");
  visit(0, "reserved_peak", reserved, "bytes");
  visit(0, "growth", growth, "bytes per `rate_unit`");
  visit(0, "fragmentation", fragmentation, "bytes reserved at the peak and not live");
  visit(0, "categories", categories, "bytes live at the peak");
  visit(0, "new", report.added, "the largest first, here and below");
  visit(0, "gone", report.gone);
  visit(0, "grown", report.grown);
  visit(0, "shrunk", report.shrunk);
  visit(0, "moved", report.moved, "what only changed its place: lines, files, names");
  visit(0, "warnings", report.warnings, "one line each");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_DIFF_REPORT_H_
