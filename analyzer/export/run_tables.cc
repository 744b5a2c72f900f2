// SPDX-License-Identifier: Apache-2.0
#include <functional>
#include <optional>
#include <utility>

#include "analyzer/export/frame_names.h"
#include "analyzer/export/tables.h"

namespace vramtrack {
namespace {

// Of a process; sizes and growths are sums over its devices.
struct RunRow {
  const ProcessSummary& summary = kNone<ProcessSummary>;

  // `moment`: a member of ReportDevice that is or returns one.
  template <class Moment>
  uint64_t Sum(Moment moment, uint64_t ReportMoment::*bytes) const {
    uint64_t sum = 0;
    for (const ReportDevice& device : summary.findings.devices) sum += std::invoke(moment, device).*bytes;
    return sum;
  }
  // Null if no device has a growth.
  std::optional<double> Growth(ReportGrowth ReportGrowths::*of) const {
    std::optional<double> sum;
    for (const ReportDevice& device : summary.findings.devices) {
      if (device.growth_of) sum = sum.value_or(0) + ((*device.growth_of).*of).bytes_per_step;
    }
    return sum;
  }
  // Of the device where it is soonest.
  std::optional<double> Soonest(std::optional<double> ReportGrowth::*to_oom) const {
    std::optional<double> soonest;
    for (const ReportDevice& device : summary.findings.devices) {
      const ReportGrowths& growths = device.growth_of ? *device.growth_of : kNone<ReportGrowths>;
      for (const ReportGrowth* growth : {&growths.live, &growths.reserved, &growths.device_used}) {
        const std::optional<double>& one = growth->*to_oom;
        if (one && (!soonest || *one < *soonest)) soonest = one;
      }
    }
    return soonest;
  }

  void Put(TableRows* columns) const {
    TableRows& column = *columns;
    const ProcessFindings& findings = summary.findings;
    const ReportProcess& process = findings.process;
    uint64_t sites = 0, leaks = 0;
    double leak_bytes_per_step = 0;
    for (const auto& [verdict, count] : findings.verdict_counts) sites += count;
    for (const ReportSite& site : findings.sites) {
      if (!IsLeak(site) || !site.part_of.is_none()) continue;
      ++leaks;
      leak_bytes_per_step += site.group ? site.group->rate_bytes_per_step : site.rate_bytes_per_step;
    }
    column("host", OrNull(summary.identity.host));
    column("started", TableTime{summary.identity.start_unix_ns / 1000});
    column("duration_s", process.duration_s);
    column("parent_pid", process.parent_pid);
    column("command", process.command);
    column("complete", process.complete);
    column("incomplete_why", OrNull(process.incomplete_why));
    column("events", process.events);
    column("lost_events", process.lost_events);
    column("steps", findings.steps.count);
    column("step_source", findings.steps.source);
    column("step_unit", findings.steps.unit);
    column("devices", findings.devices.size());
    column("peak_live", Sum(&ReportDevice::peak, &ReportMoment::live));
    column("peak_reserved", Sum(&ReportDevice::peak, &ReportMoment::reserved));
    column("peak_device_used", Sum(&ReportDevice::peak, &ReportMoment::device_used));
    column("end_live", Sum(&ReportDevice::LastMoment, &ReportMoment::live));
    column("end_reserved", Sum(&ReportDevice::LastMoment, &ReportMoment::reserved));
    column("end_device_used", Sum(&ReportDevice::LastMoment, &ReportMoment::device_used));
    column("growth_bytes_per_step", Growth(&ReportGrowths::live));
    column("growth_reserved_bytes_per_step", Growth(&ReportGrowths::reserved));
    column("growth_device_used_bytes_per_step", Growth(&ReportGrowths::device_used));
    column("steps_to_oom", Soonest(&ReportGrowth::steps_to_oom));
    column("seconds_to_oom", Soonest(&ReportGrowth::seconds_to_oom));
    column("sites", sites);
    column("leaks", leaks);
    column("leak_bytes_per_step", leak_bytes_per_step);
    column("oom", findings.oom.size());
    column("warnings", findings.warnings.size());
    column("tool_version", summary.tool_version);
  }
};

void AddRun(const ProcessSummary& process, TableWriter* table) { table->Add(RunRow{process}); }

struct DeviceRow {
  const ReportDevice& device = kNone<ReportDevice>;

  void Put(TableRows* columns) const {
    TableRows& column = *columns;
    const bool grown = device.growth_of.has_value();
    const ReportGrowths& growths = grown ? *device.growth_of : kNone<ReportGrowths>;
    const ReportGrowth& live = growths.live;
    const bool runs_out = live.steps_to_oom.has_value();
    column("device", device.index);
    column("name", OrNull(device.name));
    column("total_bytes", OrNull(device.total_bytes));
    column("peak_step", device.peak.step);
    column("peak_live", device.peak.live);
    column("peak_reserved", device.peak.reserved);
    column("peak_device_used", device.peak.device_used);
    column("end_live", device.LastMoment().live);
    column("end_reserved", device.LastMoment().reserved);
    column("end_device_used", device.LastMoment().device_used);
    column("growth_bytes_per_step", NullUnless(grown, live.bytes_per_step));
    column("growth_ci_low", NullUnless(grown, live.ci_low));
    column("growth_ci_high", NullUnless(grown, live.ci_high));
    column("growth_reserved_bytes_per_step", NullUnless(grown, growths.reserved.bytes_per_step));
    column("growth_device_used_bytes_per_step", NullUnless(grown, growths.device_used.bytes_per_step));
    column("steps_to_oom", live.steps_to_oom);
    column("steps_to_oom_low", NullUnless(runs_out, live.steps_to_oom_low));
    column("steps_to_oom_high", NullUnless(runs_out, live.steps_to_oom_high));
    column("seconds_to_oom", live.seconds_to_oom);
    column("rounding", device.fragmentation.rounding);
    column("free_releasable", device.fragmentation.free_releasable);
    column("free_pinned", device.fragmentation.free_pinned);
    column("lower_bound", device.fragmentation.lower_bound);
    column("unattributed_bytes", device.unattributed_bytes);
  }
};

void AddDevices(const ProcessSummary& process, TableWriter* table) {
  for (const ReportDevice& device : process.findings.devices) table->Add(DeviceRow{device});
}

struct OomRow {
  const ReportOom& oom = kNone<ReportOom>;
  const std::string& holder = kNone<std::string>;  // id of the site that holds most of what was live

  void Put(TableRows* columns) const {
    TableRows& column = *columns;
    static const FieldChoice choice = {{"rank", "pid"}, {}};
    PutFields(oom, choice, columns);
    const bool held = !oom.holders.empty();
    column("holder", OrNull(holder));
    column("holder_bytes", held ? std::optional(oom.holders[0].second) : std::nullopt);
    const size_t named = NamingFrame(oom.stack, 0);
    const ReportFrame* frame = named < oom.stack.size() ? &oom.stack[named] : nullptr;
    column("function", OrNull(FunctionText(frame)));
    column("line", OrNull(LineText(frame)));
    column("frames", FrameTexts(oom.stack));
  }
};

void AddOoms(const ProcessSummary& process, TableWriter* table) {
  const ProcessFindings& findings = process.findings;
  for (const ReportOom& oom : findings.oom) {
    const ReportSiteIndex holder = oom.holders.empty() ? ReportSiteIndex() : oom.holders[0].first;
    table->Add(OomRow{oom, holder.is_none() ? kNone<std::string> : findings.sites.at(holder.value()).id});
  }
}

}  // namespace

const ExportTable kRunTable = {"runs", DeclareColumns<RunRow>, nullptr, AddRun};
const ExportTable kDeviceTable = {"devices", DeclareColumns<DeviceRow>, nullptr, AddDevices};
const ExportTable kOomTable = {"oom", DeclareColumns<OomRow>, nullptr, AddOoms};

}  // namespace vramtrack
