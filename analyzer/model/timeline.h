// SPDX-License-Identifier: Apache-2.0
//
// Memory over steps or over time.
#ifndef ANALYZER_MODEL_TIMELINE_H_
#define ANALYZER_MODEL_TIMELINE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"

namespace vramtrack {

struct ReportComposition {
  std::vector<std::pair<std::string, std::vector<uint64_t>>> categories;  // by name
  std::vector<std::pair<ReportSiteIndex, std::vector<uint64_t>>> sites;
  std::vector<uint64_t> other_sites;
};

template <>
inline constexpr const char* kAbout<ReportComposition> =
    "What live bytes consist of: live = sum of categories = sum of sites + other_sites";
template <class Visitor>
void Fields(Visitor& visit, ReportComposition& composition) {
  visit(1, "categories", field::Map{composition.categories});
  visit(2, "sites", field::NamedValues{composition.sites, "site", "bytes"},
        "leaks, and those that hold most at the peak; at most twelve");
  visit(3, "other_sites", composition.other_sites);
}

struct ReportPeakStep {
  std::optional<int64_t> step;
  std::vector<uint64_t> event;
  std::vector<double> seconds;
  std::vector<uint64_t> live;
  ReportComposition consists_of;
};

template <>
inline constexpr const char* kAbout<ReportPeakStep> =
    "The step that reached the peak, allocation by allocation, in at most 1,000 rows";
template <class Visitor>
void Fields(Visitor& visit, ReportPeakStep& step) {
  visit(1, "step", step.step);
  visit(2, "event", step.event, "the row's first allocation or free of the step on the device");
  visit(3, "seconds", step.seconds, "since the recording began");
  visit(4, "live", step.live, "the highest of the row");
  visit(5, "consists_of", step.consists_of);
}

struct ReportWithinSteps {
  uint64_t events = 0;
  std::vector<double> position;
  std::vector<uint64_t> low, high;
};

template <>
inline constexpr const char* kAbout<ReportWithinSteps> = "Live bytes within each step, in at most 4,000 rows";
template <class Visitor>
void Fields(Visitor& visit, ReportWithinSteps& within) {
  visit(1, "events", within.events, "allocations and frees of one step that a row stands for, at most");
  visit(2, "position", within.position, "a step's number plus the share of its allocations and frees that came before");
  visit(3, "low", within.low);
  visit(4, "high", within.high);
}

struct ReportTimeline {
  std::optional<uint32_t> device;
  PositionUnit unit = PositionUnit::kSteps;
  std::vector<double> position;
  struct Series {
    std::vector<uint64_t> low, high;
  };
  Series device_used, reserved, live;
  std::vector<std::pair<std::string, Series>> categories;
  ReportComposition at_high;
  std::optional<ReportPeakStep> peak_step;
  std::optional<ReportWithinSteps> within_steps;
};

template <>
inline constexpr const char* kAbout<ReportTimeline::Series> = "The lowest and the highest value in each bin";
template <class Visitor>
void Fields(Visitor& visit, ReportTimeline::Series& series) {
  visit(1, "low", series.low);
  visit(2, "high", series.high);
}

template <>
inline constexpr const char* kAbout<ReportTimeline> =
    "One for each device, and one for host memory. The columns are equally long";
template <class Visitor>
void Fields(Visitor& visit, ReportTimeline& timeline) {
  visit(1, "device", timeline.device, "`null` for host memory");
  visit(2, "unit", timeline.unit, "of `position`");
  visit(3, "position", timeline.position, "one for each bin, at most 4,000");
  visit(4, "device_used", timeline.device_used);
  visit(5, "reserved", timeline.reserved);
  visit(6, "live", timeline.live);
  visit(7, "categories", field::Map{timeline.categories},
        "live bytes by category; at each moment they add up to `live`");
  visit(8, "at_high", timeline.at_high, "what `live.high` consists of");
  visit(9, "peak_step", timeline.peak_step, "`null` without steps, or where nothing was live");
  visit(10, "within_steps", timeline.within_steps, "`null` without steps, or with 4,000 of them or more");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_TIMELINE_H_
