// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/exporter.h"

#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/model/enums.h"
#include "analyzer/render/openmetrics/metrics_text.h"

namespace vramtrack {
namespace {

enum MetricIndex {
  kLive,
  kReserved,
  kDeviceUsed,
  kInUse,
  kAllocated,
  kAllocations,
  kSteps,
  kLeaks,
  kLeakRate,
  kMetrics
};
constexpr Metric kTable[kMetrics] = {
    {"vramtrack_live_bytes", "gauge", "bytes", "Allocated and not freed, at the peak and at the end"},
    {"vramtrack_reserved_bytes", "gauge", "bytes", "Taken from the device, at the peak and at the end"},
    {"vramtrack_device_used_bytes", "gauge", "bytes", "Used on the device, at the peak and at the end"},
    {"vramtrack_in_use_bytes", "gauge", "bytes", "Allocated and not freed at the chosen moment, by what it is for"},
    {"vramtrack_allocated_bytes", "counter", "bytes", "All that was allocated"},
    {"vramtrack_allocations", "counter", "", "Calls that allocated"},
    {"vramtrack_steps", "counter", "", "Complete steps"},
    {"vramtrack_leak_sites", "gauge", "", "Call stacks that leak"},
    {"vramtrack_leak_bytes_per_step", "gauge", "", "What they leak together, in bytes per step"},
};

class OpenMetrics final : public Exporter {
 public:
  explicit OpenMetrics(ExportSink sink) : sink_(std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    const TracedProcess& traced = process.trace().definitions().process;
    const Ledger& ledger = process.ledger();
    const std::string who = absl::StrCat(Label("host", traced.host), ",", Label("pid", absl::StrCat(traced.pid)),
                                         traced.rank ? "," + Label("rank", absl::StrCat(*traced.rank)) : "");
    for (const Scope& scope : ledger.scopes()) {
      if (!scope.is_leading()) continue;
      const std::string device = absl::StrCat(who, ",", Label("device", absl::StrCat("cuda:", scope.device.value())));
      for (const auto& [at, moment] :
           {std::pair<const char*, const Moment&>{"peak", scope.peak_moment}, {"end", scope.end_moment}}) {
        const std::string labels = absl::StrCat(device, ",", Label("at", at));
        Sample(kLive, labels, moment.usage.live);
        Sample(kReserved, labels, moment.usage.reserved);
        Sample(kDeviceUsed, labels, moment.device_used);
      }
    }
    std::map<std::pair<std::string, std::string>, uint64_t> in_use;
    std::map<std::pair<std::string, std::string>, SiteCounts> allocated;
    std::map<std::string, std::pair<uint64_t, double>> leaks;
    for (const ExportedSite& site : process.sites()) {
      in_use[{site.device, site.category}] += site.counts.inuse_bytes;
      SiteCounts& sum = allocated[{site.device, site.level}];
      sum.alloc_objects += site.counts.alloc_objects;
      sum.alloc_bytes += site.counts.alloc_bytes;
      const SiteVerdict& verdict = process.analysis().verdicts()[site.index];
      if (!IsLeak(verdict.verdict)) continue;
      ++leaks[site.device].first;
      leaks[site.device].second += verdict.rate_bytes_per_step;
    }
    for (const auto& [key, bytes] : in_use) {
      Sample(kInUse, absl::StrCat(who, ",", Label("device", key.first), ",", Label("category", key.second)), bytes);
    }
    for (const auto& [key, counts] : allocated) {
      const std::string labels = absl::StrCat(who, ",", Label("device", key.first), ",", Label("level", key.second));
      Sample(kAllocated, labels, counts.alloc_bytes);
      Sample(kAllocations, labels, counts.alloc_objects);
    }
    const bool has_steps = !ledger.steps().plan().has_windows();
    if (has_steps) Sample(kSteps, who, uint64_t{ledger.steps().step()});
    for (const auto& [device, sum] : leaks) {
      const std::string labels = absl::StrCat(who, ",", Label("device", device));
      Sample(kLeaks, labels, sum.first);
      if (has_steps) Sample(kLeakRate, labels, sum.second);
    }
    return absl::OkStatus();
  }

  void Finish() override { sink_(text_.Finish()); }

 private:
  static std::string Label(const char* name, const std::string& value) { return MetricsText::Label(name, value); }

  template <typename Value>
  void Sample(MetricIndex metric, const std::string& labels, Value value) {
    text_.Sample(metric, labels, value);
  }

  ExportSink sink_;
  MetricsText text_{kTable};
};

}  // namespace

std::unique_ptr<Exporter> MakeOpenMetrics(const ExportOptions& /*options*/, ExportSink sink) {
  return std::make_unique<OpenMetrics>(std::move(sink));
}

}  // namespace vramtrack
