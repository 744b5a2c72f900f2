// SPDX-License-Identifier: Apache-2.0
//
// A device: its memory, how that grows, and what ran on it.
#ifndef ANALYZER_MODEL_DEVICE_H_
#define ANALYZER_MODEL_DEVICE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/fragmentation.h"
#include "analyzer/model/growth_ledger.h"
#include "analyzer/model/holder.h"
#include "analyzer/model/peak.h"

namespace vramtrack {

struct ReportFrameworkShare {
  uint64_t cached = 0, releasable = 0, others = 0, overhead = 0, unattributed = 0, unplaced = 0;
};

template <>
inline constexpr const char* kAbout<ReportFrameworkShare> =
    "device_used = live + cached + others + overhead + unattributed, to the byte; only with a [framework's "
    "level](ledger.md)";
template <class Visitor>
void Fields(Visitor& visit, ReportFrameworkShare& share) {
  visit(1, "cached", share.cached, "in its segments and not handed out: reserved = live + cached");
  visit(2, "releasable", field::Internal{share.releasable});
  visit(3, "others", share.others, "the driver's memory outside segments");
  visit(4, "overhead", share.overhead, "pages that allocations do not fill");
  visit(5, "unattributed", share.unattributed, "used by nobody that was traced");
  visit(6, "unplaced", field::Internal{share.unplaced});
}

struct ReportMoment {
  std::optional<int64_t> step;
  uint64_t device_used = 0, reserved = 0, live = 0;
  std::optional<ReportFrameworkShare> framework;  // nullopt if the device has no framework level
};

template <>
inline constexpr const char* kAbout<ReportMoment> = "What a device holds at one moment";
template <class Visitor>
void Fields(Visitor& visit, ReportMoment& moment) {
  visit(1, "step", moment.step);
  visit(2, "device_used", moment.device_used, "see `asked_free_memory`");
  visit(3, "reserved", moment.reserved, "taken from the device");
  visit(4, "live", moment.live, "allocated and not freed; with a framework's level, its blocks");
  visit(5, "framework", field::Inline{moment.framework});
}

struct ReportGrowth {
  double bytes_per_step = 0, ci_low = 0, ci_high = 0;
  std::optional<double> steps_to_oom;
  // 95 % confidence interval; valid only if steps_to_oom is set.
  double steps_to_oom_low = 0, steps_to_oom_high = 0;
  std::optional<double> seconds_to_oom;
  std::string refused;
  std::optional<ReportGrowthLedger> ledger;  // of a device's live bytes only
};

template <>
inline constexpr const char* kAbout<ReportGrowth> = "See [growth](leak-verdicts.md#growth-of-a-device)";
template <class Visitor>
void Fields(Visitor& visit, ReportGrowth& growth) {
  visit(1, "bytes_per_step", growth.bytes_per_step);
  visit(2, "ci_low", growth.ci_low, "95 % confidence interval");
  visit(3, "ci_high", growth.ci_high);
  visit(4, "steps_to_oom", growth.steps_to_oom,
        "steps that still complete; `null` if it does not surely grow, or if that is unknown");
  visit(5, "steps_to_oom_ci",
        field::Interval{growth.steps_to_oom_low, growth.steps_to_oom_high, true, growth.steps_to_oom.has_value()},
        "95 %");
  visit(7, "seconds_to_oom", growth.seconds_to_oom, "`null` without `steps_to_oom`, or where steps have no duration");
  visit(8, "refused", growth.refused, "why nothing is predicted of what grows, in a line; empty otherwise");
  visit(9, "ledger", field::Inline{growth.ledger});
}

// The growth of a device's live bytes, of its reserved bytes, and of the bytes in use on it.
struct ReportGrowths {
  ReportGrowth live, reserved, device_used;
};

template <class Visitor>
void Fields(Visitor& visit, ReportGrowths& growths) {
  visit(1, "live", growths.live);
  visit(2, "reserved", growths.reserved);
  visit(3, "device_used", growths.device_used);
}

struct ReportOnlyCupti {
  std::string library;
  uint64_t at_peak = 0, at_end = 0;
};

template <>
inline constexpr const char* kAbout<ReportOnlyCupti> =
    "Memory of the driver that only [CUPTI](cupti.md) saw being allocated. It is part of `live`, or of `others` where "
    "there is a framework's level";
template <class Visitor>
void Fields(Visitor& visit, ReportOnlyCupti& only) {
  visit(1, "library", only.library, "empty where CUPTI does not say");
  visit(2, "at_peak", only.at_peak, "bytes");
  visit(3, "at_end", only.at_end);
}

// How the peak of a step depends on the value that its mark carries.
struct ReportValueFit {
  // Times the largest value: further than this the line is not followed.
  static constexpr double kFarthest = 4;
  struct Line {
    double bytes_per_unit = 0, ci_low = 0, ci_high = 0;
    double fixed_bytes = 0;
    double explained = 0;
    std::optional<double> bend_value, floor_bytes, largest_value;
  };
  uint64_t steps = 0;
  double least_value = 0, most_value = 0;
  std::optional<Line> line;
  std::string refused;
};

template <>
inline constexpr const char* kAbout<ReportValueFit::Line> =
    "Peak of a step = `fixed_bytes` + `bytes_per_unit` × value, as of the last step: a trend over the steps is fitted "
    "along and taken off";
template <class Visitor>
void Fields(Visitor& visit, ReportValueFit::Line& line) {
  visit(1, "bytes_per_unit", line.bytes_per_unit, "bytes for each unit of the value, such as a token");
  visit(2, "bytes_per_unit_ci", field::Interval{line.ci_low, line.ci_high}, "95 % confidence interval");
  visit(4, "fixed_bytes", line.fixed_bytes, "the line at a value of 0");
  visit(7, "explained", line.explained,
        "share of the variance of the peaks that the value explains, 0 to 1; what a trend over the steps explains "
        "does not count");
  visit(8, "bend_value", line.bend_value,
        "steps with smaller values peak at `floor_bytes`, whatever their value; `null`: all steps are on the line");
  visit(9, "floor_bytes", line.floor_bytes, "`null` without a bend");
  visit(12, "largest_value", line.largest_value,
        "the largest value that the device has room for, up to 4 times `most_value`; `null` if its size is unknown");
}

template <>
inline constexpr const char* kAbout<ReportValueFit> =
    "Memory explained by the values of `vramtrack_step()`, such as tokens, see [peaks](peaks.md#memory-by-step-value)";
template <class Visitor>
void Fields(Visitor& visit, ReportValueFit& fit) {
  visit(1, "steps", fit.steps, "after warm-up and with a value, at most the last 4,000");
  visit(2, "least_value", fit.least_value, "of these steps");
  visit(3, "most_value", fit.most_value);
  visit(4, "line", fit.line, "`null` if `refused`");
  visit(5, "refused", fit.refused, "why there is no line; empty otherwise");
}

struct ReportSuggestedLimit {
  uint64_t max_memory = 0, headroom = 0;
  uint64_t kept = 0, transient = 0, others = 0, fragmentation = 0, growth = 0;
  uint64_t steps = 0;
  std::string refused;
};

template <>
inline constexpr const char* kAbout<ReportSuggestedLimit> =
    "How much memory can be filled with what stays, such as weights (`max_memory` of Accelerate), and how much to "
    "leave free. headroom = transient + others + fragmentation + growth, rounded up to pages of 2 MiB; the size of the "
    "device = max_memory + headroom";
template <class Visitor>
void Fields(Visitor& visit, ReportSuggestedLimit& limit) {
  visit(1, "max_memory", field::OrNull{limit.max_memory}, "bytes; `null` if `refused`");
  visit(2, "headroom", field::OrNull{limit.headroom}, "bytes to leave free; `null` if `refused`");
  visit(3, "kept", limit.kept, "the most that stayed live throughout a step");
  visit(4, "transient", limit.transient, "the most that a step took above that");
  visit(5, "others", limit.others, "the CUDA context, other libraries and processes, and the driver's granularity");
  visit(6, "fragmentation", limit.fragmentation, "free but pinned at the peak");
  visit(7, "growth", limit.growth, "what grew after warm-up without being a leak: room for as much again");
  visit(8, "steps", limit.steps, "that were looked at");
  visit(9, "refused", limit.refused, "why nothing is suggested; empty otherwise");
}

struct ReportDevice {
  uint32_t index = 0;
  std::string name;
  uint64_t total_bytes = 0;
  bool integrated = false;
  ReportMoment peak, end;
  // The moment when the last complete step ended: what Python frees at exit does not belong to the run. Nullopt without
  // steps.
  std::optional<ReportMoment> last_step;
  const ReportMoment& LastMoment() const { return last_step ? *last_step : end; }
  ReportPeakSet peak_set;
  std::optional<ReportGrowth> growth;
  std::optional<ReportGrowths> growth_of;
  ReportFragmentation fragmentation;
  std::vector<ReportMemoryPool> memory_pools;
  std::optional<ReportValueFit> by_value;
  std::optional<ReportSuggestedLimit> suggested_limit;
  std::optional<ReportHeld> held;
  std::optional<ReportModuleMemory> module_memory;
  bool asked_free_memory = false;
  uint64_t unattributed_bytes = 0;
  // Driver memory whose allocation only CUPTI saw, by library, largest first.
  std::vector<ReportOnlyCupti> only_cupti;
  std::vector<ReportLateFree> late_frees;
  // For a device with a framework level: driver memory outside of segments at the peak, by owner, largest first.
  std::vector<std::pair<std::string, uint64_t>> other_owners;
  // In a job with several processes: the process that these figures are from, and how many processes used a device with
  // this number.
  std::optional<int> rank;
  uint32_t pid = 0;
  uint64_t processes = 1;
};

template <>
inline constexpr const char* kAbout<ReportDevice> = "One for each device that was used";
template <class Visitor>
void Fields(Visitor& visit, ReportDevice& device) {
  visit(1, "index", device.index);
  visit(2, "name", device.name, "empty if the job never asked for it");
  visit(3, "total_bytes", device.total_bytes, "0 if unknown");
  visit(22, "integrated", device.integrated,
        "whether its memory is the host's (`CU_DEVICE_ATTRIBUTE_INTEGRATED`): `total_bytes` are for both, and what the "
        "host uses is unattributed here. False if the job never asked for it");
  visit(4, "peak", device.peak, "when live bytes were highest");
  visit(6, "peak_set", field::Within{"peak", device.peak_set});
  visit(5, "end", device.end, "when the trace ends");
  visit(17, "last_step", device.last_step,
        "when the last complete step ended: what Python frees when it exits is not of the run. `null` without steps. "
        "The text calls it \"end\"");
  visit(7, "growth", device.growth, "of live bytes; `null` with too few steps");
  visit(8, "growth_of", device.growth_of, "`null` with too few steps");
  visit(9, "fragmentation", device.fragmentation);
  visit(10, "memory_pools", device.memory_pools, "by handle, the device's own first");
  visit(11, "unattributed_bytes", device.unattributed_bytes,
        "used on the device by nobody that was traced: the CUDA context, other libraries");
  visit(23, "asked_free_memory", device.asked_free_memory,
        "whether the job asked the driver for its free memory. If not, the CUDA context and other processes are in no "
        "figure");
  visit(12, "only_cupti", device.only_cupti, "by library, the most first");
  visit(24, "late_frees", device.late_frees, "by what they save, the most first");
  visit(15, "other_owners", field::NamedValues{device.other_owners, "owner", "bytes"},
        "with a framework's level, the driver's memory outside segments at the peak, largest first");
  visit(18, "by_value", device.by_value, "`null` where no step has a value");
  visit(19, "suggested_limit", device.suggested_limit,
        "`null` with fewer than 10 steps after warm-up, and if the size of the device is unknown");
  visit(20, "held", device.held, "`null` where no walk found blocks of the device");
  visit(21, "module_memory", device.module_memory, "`null` where no walk found blocks of the device");
  visit(0, "rank", device.rank,
        "of a job with several processes: whose figures these are. It is the process that reserved most on a device "
        "with this number");
  visit(0, "pid", device.pid);
  visit(0, "processes", device.processes, "how many used a device with this number");
}

}  // namespace vramtrack

#endif  // ANALYZER_MODEL_DEVICE_H_
