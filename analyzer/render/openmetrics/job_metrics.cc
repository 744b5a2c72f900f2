// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/openmetrics/job_metrics.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "analyzer/model/answer.h"
#include "analyzer/model/device_parts.h"

namespace vramtrack {
namespace {

struct Metric {
  const char* name;  // without the suffix _total of counters
  const char* type;  // "gauge" or "counter": the only ones that parsers of Prometheus' older format know, too
  const char* unit;  // the name must end with it; empty: none
  const char* help;
};

enum MetricIndex {
  kBuild,
  kLooks,
  kFailedLooks,
  kLookTime,
  kLookDuration,
  kProcesses,
  kEvents,
  kLostEvents,
  kNewestEvent,
  kSteps,
  kMemory,
  kSize,
  kGrowth,
  kStepsToFull,
  kTimeToFull,
  kRanOut,
  kSites,
  kMetrics
};
constexpr Metric kTable[kMetrics] = {
    {"vramtrack_build_info", "gauge", "", "The version of vramtrack"},
    {"vramtrack_looks", "counter", "", "How often the traces were read"},
    {"vramtrack_failed_looks", "counter", "",
     "How often the traces could not be read; the other figures are then older"},
    {"vramtrack_look_timestamp_seconds", "gauge", "seconds", "When the traces were read for these figures"},
    {"vramtrack_look_duration_seconds", "gauge", "seconds", "How long that took"},
    {"vramtrack_processes", "gauge", "",
     "Processes of the job: recording (on this machine), ended, or other (killed, or on another machine)"},
    {"vramtrack_events", "counter", "", "Events recorded by the processes of the job"},
    {"vramtrack_lost_events", "counter", "", "Events known to be missing from the traces"},
    {"vramtrack_newest_event_timestamp_seconds", "gauge", "seconds", "When the newest event was recorded"},
    {"vramtrack_steps", "counter", "", "Complete steps"},
    {"vramtrack_device_memory_bytes", "gauge", "bytes",
     "Memory of the device after the last step, by part; the parts add up to the size of the device"},
    {"vramtrack_device_size_bytes", "gauge", "bytes", "Memory that the device has"},
    {"vramtrack_device_growth_bytes_per_step", "gauge", "", "Growth of live bytes, with its 95 % interval"},
    {"vramtrack_device_steps_to_full", "gauge", "",
     "Steps until the device is full, with its 95 % interval; missing if it does not surely grow"},
    {"vramtrack_device_time_to_full_seconds", "gauge", "seconds",
     "Time until the device is full, with its 95 % interval; missing if it does not surely grow"},
    {"vramtrack_device_ran_out", "gauge", "", "1 if an allocation failed because the device was full"},
    {"vramtrack_sites", "gauge", "", "Allocation sites by verdict"},
};

constexpr size_t kMostDevices = 64;

// Returns `name="value"`. Labels are joined by commas.
std::string Label(const char* name, const std::string& value) { return absl::StrCat(name, "=\"", value, "\""); }

// Collects samples and writes them by metric. Thread-compatible.
class MetricsText {
 public:
  // `labels` may be empty.
  void Sample(MetricIndex metric, const std::string& labels, uint64_t value) {
    Add(metric, labels, absl::StrCat(value));
  }
  void Sample(MetricIndex metric, const std::string& labels, double value) {
    Add(metric, labels, std::isnan(value) ? "NaN" : absl::StrFormat("%.15g", value));
  }

  // Returns the text, without metrics that have no samples.
  std::string Finish() const {
    std::string text;
    for (size_t i = 0; i < kMetrics; ++i) {
      const Metric& metric = kTable[i];
      if (samples_[i].empty()) continue;
      absl::StrAppend(&text, "# TYPE ", metric.name, " ", metric.type, "\n");
      if (*metric.unit != '\0') absl::StrAppend(&text, "# UNIT ", metric.name, " ", metric.unit, "\n");
      absl::StrAppend(&text, "# HELP ", metric.name, " ", metric.help, "\n", samples_[i]);
    }
    return text + "# EOF\n";
  }

 private:
  void Add(MetricIndex metric, const std::string& labels, const std::string& value) {
    const bool is_counter = kTable[metric].type == std::string_view("counter");
    absl::StrAppend(&samples_[metric], kTable[metric].name, is_counter ? "_total" : "",
                    labels.empty() ? "" : absl::StrCat("{", labels, "}"), " ", value, "\n");
  }

  std::array<std::string, kMetrics> samples_;
};

// A value and the bounds of its interval.
void AddInterval(MetricsText* text, MetricIndex metric, const std::string& device, double low, double value,
                 double high) {
  for (const auto& [bound, one] : {std::pair<const char*, double>{"low", low}, {"estimate", value}, {"high", high}}) {
    text->Sample(metric, absl::StrCat(device, ",", Label("bound", bound)), one);
  }
}

void AddDevice(const Report& report, const ReportDevice& device, MetricsText* text) {
  const std::string label = Label("device", absl::StrCat("cuda:", device.index));
  for (const DevicePart& part : DeviceParts(device)) {
    text->Sample(kMemory, absl::StrCat(label, ",", Label("part", NameOf(part.kind))), part.bytes);
  }
  if (device.total_bytes > 0) text->Sample(kSize, label, device.total_bytes);
  text->Sample(kRanOut, label, uint64_t{HasRunOut(report, device.index)});
  if (!device.growth) return;
  const ReportGrowth& growth = *device.growth;
  AddInterval(text, kGrowth, label, growth.ci_low, growth.bytes_per_step, growth.ci_high);
  if (!growth.steps_to_oom || HasRunOut(report, device.index)) return;
  const double steps = *growth.steps_to_oom;
  AddInterval(text, kStepsToFull, label, growth.steps_to_oom_low, steps, growth.steps_to_oom_high);
  if (!growth.seconds_to_oom || steps <= 0) return;
  const double step_s = *growth.seconds_to_oom / steps;
  AddInterval(text, kTimeToFull, label, growth.steps_to_oom_low * step_s, *growth.seconds_to_oom,
              growth.steps_to_oom_high * step_s);
}

void AddProcesses(const WatchState& state, const Report& report, MetricsText* text) {
  uint64_t ended = 0, events = 0, lost = 0;
  double newest_s = 0;
  for (const ReportProcess& process : report.processes) {
    if (process.complete) ++ended;
    events += process.events;
    lost += process.lost_events;
    newest_s = std::max(newest_s, process.newest_event_s);
  }
  const uint64_t open = report.processes.size() - ended;
  const uint64_t recording = std::min<uint64_t>(open, state.recording);
  for (const auto& [name, count] :
       {std::pair<const char*, uint64_t>{"recording", recording}, {"ended", ended}, {"other", open - recording}}) {
    text->Sample(kProcesses, Label("state", name), count);
  }
  text->Sample(kEvents, "", events);
  text->Sample(kLostEvents, "", lost);
  if (newest_s > 0) text->Sample(kNewestEvent, "", newest_s);
}

}  // namespace

std::string RenderJobMetrics(const WatchState& state, const Report* report) {
  MetricsText text;
  text.Sample(kLooks, "", state.looks);
  text.Sample(kFailedLooks, "", state.failed_looks);
  if (report == nullptr) return text.Finish();
  text.Sample(kBuild, Label("version", report->tool_version), uint64_t{1});
  text.Sample(kLookTime, "", state.look_time_s);
  text.Sample(kLookDuration, "", state.look_duration_s);
  AddProcesses(state, *report, &text);
  if (report->steps.unit == StepUnit::kStep) text.Sample(kSteps, "", report->steps.count);
  for (const ReportDevice& device : report->devices) {
    if (device.index < kMostDevices) AddDevice(*report, device, &text);
  }
  for (size_t i = 0; i <= static_cast<size_t>(Verdict::kInsufficientEvidence); ++i) {
    const auto verdict = static_cast<Verdict>(i);
    text.Sample(kSites, Label("verdict", NameOf(verdict)), SitesWith(*report, verdict));
  }
  return text.Finish();
}

}  // namespace vramtrack
