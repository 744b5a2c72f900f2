// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "analyzer/base/display_text.h"
#include "analyzer/export/findings_table.h"
#include "analyzer/export/frame_names.h"
#include "analyzer/export/tables.h"

namespace vramtrack {
namespace {

// Of a process; sizes are sums over its devices.
struct RunRow {
  const TableProcess* process = nullptr;
  std::string host;
  uint64_t started_us = 0;
  uint32_t parent_pid = 0;
  std::vector<std::string> command;
  bool complete = false;
  std::string incomplete_why;
  uint64_t events = 0, lost_events = 0;
  double duration_s = 0;
  uint64_t steps = 0;
  std::string step_source, step_unit, tool_version;
  uint64_t devices = 0;
  uint64_t peak_live = 0, peak_reserved = 0, peak_device_used = 0, end_live = 0, end_reserved = 0, end_device_used = 0;
  std::optional<double> growth_bytes_per_step, growth_reserved_bytes_per_step, growth_device_used_bytes_per_step;
  std::optional<double> steps_to_oom, seconds_to_oom;  // of the device where it is soonest
  uint64_t sites = 0, leaks = 0;
  double leak_bytes_per_step = 0;
  uint64_t oom = 0, warnings = 0;
};

std::vector<RowColumn<RunRow>> RunColumns() {
  using Column = TableColumn;
  using Row = RunRow;
  return WithProcess<Row>({
      {{"host", Column::kText, true}, AddMember<Row, &Row::host>},
      {{"started", Column::kTime}, AddMember<Row, &Row::started_us>},
      {{"duration_s", Column::kNumber}, AddMember<Row, &Row::duration_s>},
      {{"parent_pid", Column::kInteger}, AddMember<Row, &Row::parent_pid>},
      {{"command", Column::kTexts}, AddMember<Row, &Row::command>},
      {{"complete", Column::kTruth}, AddMember<Row, &Row::complete>},
      {{"incomplete_why", Column::kText, true}, AddMember<Row, &Row::incomplete_why>},
      {{"events", Column::kInteger}, AddMember<Row, &Row::events>},
      {{"lost_events", Column::kInteger}, AddMember<Row, &Row::lost_events>},
      {{"steps", Column::kInteger}, AddMember<Row, &Row::steps>},
      {{"step_source", Column::kText}, AddMember<Row, &Row::step_source>},
      {{"step_unit", Column::kText}, AddMember<Row, &Row::step_unit>},
      {{"devices", Column::kInteger}, AddMember<Row, &Row::devices>},
      {{"peak_live", Column::kInteger}, AddMember<Row, &Row::peak_live>},
      {{"peak_reserved", Column::kInteger}, AddMember<Row, &Row::peak_reserved>},
      {{"peak_device_used", Column::kInteger}, AddMember<Row, &Row::peak_device_used>},
      {{"end_live", Column::kInteger}, AddMember<Row, &Row::end_live>},
      {{"end_reserved", Column::kInteger}, AddMember<Row, &Row::end_reserved>},
      {{"end_device_used", Column::kInteger}, AddMember<Row, &Row::end_device_used>},
      {{"growth_bytes_per_step", Column::kNumber, true}, AddMember<Row, &Row::growth_bytes_per_step>},
      {{"growth_reserved_bytes_per_step", Column::kNumber, true}, AddMember<Row, &Row::growth_reserved_bytes_per_step>},
      {{"growth_device_used_bytes_per_step", Column::kNumber, true},
       AddMember<Row, &Row::growth_device_used_bytes_per_step>},
      {{"steps_to_oom", Column::kNumber, true}, AddMember<Row, &Row::steps_to_oom>},
      {{"seconds_to_oom", Column::kNumber, true}, AddMember<Row, &Row::seconds_to_oom>},
      {{"sites", Column::kInteger}, AddMember<Row, &Row::sites>},
      {{"leaks", Column::kInteger}, AddMember<Row, &Row::leaks>},
      {{"leak_bytes_per_step", Column::kNumber}, AddMember<Row, &Row::leak_bytes_per_step>},
      {{"oom", Column::kInteger}, AddMember<Row, &Row::oom>},
      {{"warnings", Column::kInteger}, AddMember<Row, &Row::warnings>},
      {{"tool_version", Column::kText}, AddMember<Row, &Row::tool_version>},
  });
}

void AddUp(std::optional<double>* sum, double value) { sum->emplace(sum->value_or(0) + value); }

void TakeSoonest(std::optional<double>* soonest, const std::optional<double>& value) {
  if (value && (!*soonest || *value < **soonest)) *soonest = value;
}

void AddDevice(const ReportDevice& device, RunRow* row) {
  ++row->devices;
  row->peak_live += device.peak.live;
  row->peak_reserved += device.peak.reserved;
  row->peak_device_used += device.peak.device_used;
  row->end_live += device.end.live;
  row->end_reserved += device.end.reserved;
  row->end_device_used += device.end.device_used;
  if (!device.growth_of) return;
  const ReportGrowths& growths = *device.growth_of;
  AddUp(&row->growth_bytes_per_step, growths.live.bytes_per_step);
  AddUp(&row->growth_reserved_bytes_per_step, growths.reserved.bytes_per_step);
  AddUp(&row->growth_device_used_bytes_per_step, growths.device_used.bytes_per_step);
  for (const ReportGrowth* growth : {&growths.live, &growths.reserved, &growths.device_used}) {
    TakeSoonest(&row->steps_to_oom, growth->steps_to_oom);
    TakeSoonest(&row->seconds_to_oom, growth->seconds_to_oom);
  }
}

std::vector<RunRow> RunRows(const ProcessSummary& process) {
  const ProcessFindings& findings = process.findings;
  RunRow row;
  row.host = Printable(process.identity.host);
  row.started_us = process.identity.start_unix_ns / 1000;
  row.parent_pid = findings.process.parent_pid;
  for (const std::string& word : findings.process.command) row.command.push_back(Printable(word));
  row.complete = findings.process.complete;
  row.incomplete_why = findings.process.incomplete_why;
  row.events = findings.process.events;
  row.lost_events = findings.process.lost_events;
  row.duration_s = findings.process.duration_s;
  row.steps = findings.steps.count;
  row.step_source = NameOf(findings.steps.source);
  row.step_unit = NameOf(findings.steps.unit);
  row.tool_version = process.tool_version;
  for (const ReportDevice& device : findings.devices) AddDevice(device, &row);
  for (const auto& [verdict, sites] : findings.verdict_counts) row.sites += sites;
  for (const ReportSite& site : findings.sites) {
    if (!IsLeak(site) || !site.part_of.empty()) continue;
    ++row.leaks;
    row.leak_bytes_per_step += site.group ? site.group->rate_bytes_per_step : site.rate_bytes_per_step;
  }
  row.oom = findings.oom.size();
  row.warnings = findings.warnings.size();
  return {row};
}

}  // namespace

std::unique_ptr<Exporter> MakeRunTable(const MakeTableFormat& make) {
  return std::make_unique<FindingsTable<RunRow>>(RunColumns(), RunRows, make);
}

namespace {

struct DeviceRow {
  const TableProcess* process = nullptr;
  ReportDevice device;
};

const ReportGrowth* GrowthOf(const DeviceRow& row, ReportGrowth ReportGrowths::*which) {
  return row.device.growth_of ? &((*row.device.growth_of).*which) : nullptr;
}

template <ReportGrowth ReportGrowths::*kWhich, auto kMember>
void AddGrowth(const DeviceRow& row, ColumnValues* to) {
  const ReportGrowth* growth = GrowthOf(row, kWhich);
  growth == nullptr ? to->AddNull() : AddValue(growth->*kMember, to);
}

template <ReportGrowth ReportGrowths::*kWhich, auto kMember>
void AddGrowthOfOom(const DeviceRow& row, ColumnValues* to) {
  const ReportGrowth* growth = GrowthOf(row, kWhich);
  const bool known = growth != nullptr && growth->steps_to_oom;
  known ? AddValue(growth->*kMember, to) : to->AddNull();
}

template <ReportMoment ReportDevice::*kMoment, auto kMember>
void AddMoment(const DeviceRow& row, ColumnValues* to) {
  AddValue(row.device.*kMoment.*kMember, to);
}

template <uint64_t ReportFragmentation::*kMember>
void AddFragmentation(const DeviceRow& row, ColumnValues* to) {
  to->Add(row.device.fragmentation.*kMember);
}

std::vector<RowColumn<DeviceRow>> DeviceColumns() {
  using Column = TableColumn;
  using Values = ColumnValues;
  using Row = DeviceRow;
  using Device = ReportDevice;
  using Moment = ReportMoment;
  using Growths = ReportGrowths;
  using Growth = ReportGrowth;
  using Fragmentation = ReportFragmentation;
  return WithProcess<Row>({
      {{"device", Column::kInteger}, [](const Row& row, Values* to) { to->Add(row.device.index); }},
      {{"name", Column::kText, true},
       [](const Row& row, Values* to) { to->AddTextOrNull(Printable(row.device.name)); }},
      {{"total_bytes", Column::kInteger, true},
       [](const Row& row, Values* to) {
         row.device.total_bytes == 0 ? to->AddNull() : to->Add(row.device.total_bytes);
       }},
      {{"peak_step", Column::kInteger, true}, AddMoment<&Device::peak, &Moment::step>},
      {{"peak_live", Column::kInteger}, AddMoment<&Device::peak, &Moment::live>},
      {{"peak_reserved", Column::kInteger}, AddMoment<&Device::peak, &Moment::reserved>},
      {{"peak_device_used", Column::kInteger}, AddMoment<&Device::peak, &Moment::device_used>},
      {{"end_live", Column::kInteger}, AddMoment<&Device::end, &Moment::live>},
      {{"end_reserved", Column::kInteger}, AddMoment<&Device::end, &Moment::reserved>},
      {{"end_device_used", Column::kInteger}, AddMoment<&Device::end, &Moment::device_used>},
      {{"growth_bytes_per_step", Column::kNumber, true}, AddGrowth<&Growths::live, &Growth::bytes_per_step>},
      {{"growth_ci_low", Column::kNumber, true}, AddGrowth<&Growths::live, &Growth::ci_low>},
      {{"growth_ci_high", Column::kNumber, true}, AddGrowth<&Growths::live, &Growth::ci_high>},
      {{"growth_reserved_bytes_per_step", Column::kNumber, true},
       AddGrowth<&Growths::reserved, &Growth::bytes_per_step>},
      {{"growth_device_used_bytes_per_step", Column::kNumber, true},
       AddGrowth<&Growths::device_used, &Growth::bytes_per_step>},
      {{"steps_to_oom", Column::kNumber, true}, AddGrowth<&Growths::live, &Growth::steps_to_oom>},
      {{"steps_to_oom_low", Column::kNumber, true}, AddGrowthOfOom<&Growths::live, &Growth::steps_to_oom_low>},
      {{"steps_to_oom_high", Column::kNumber, true}, AddGrowthOfOom<&Growths::live, &Growth::steps_to_oom_high>},
      {{"seconds_to_oom", Column::kNumber, true}, AddGrowth<&Growths::live, &Growth::seconds_to_oom>},
      {{"rounding", Column::kInteger}, AddFragmentation<&Fragmentation::rounding>},
      {{"free_releasable", Column::kInteger}, AddFragmentation<&Fragmentation::free_releasable>},
      {{"free_pinned", Column::kInteger}, AddFragmentation<&Fragmentation::free_pinned>},
      {{"lower_bound", Column::kInteger}, AddFragmentation<&Fragmentation::lower_bound>},
      {{"unattributed_bytes", Column::kInteger},
       [](const Row& row, Values* to) { to->Add(row.device.unattributed_bytes); }},
  });
}

std::vector<DeviceRow> DeviceRows(const ProcessSummary& process) {
  std::vector<DeviceRow> rows;
  for (const ReportDevice& device : process.findings.devices) rows.push_back({nullptr, device});
  return rows;
}

}  // namespace

std::unique_ptr<Exporter> MakeDeviceTable(const MakeTableFormat& make) {
  return std::make_unique<FindingsTable<DeviceRow>>(DeviceColumns(), DeviceRows, make);
}

namespace {

struct OomRow {
  const TableProcess* process = nullptr;
  ReportOom oom;
  std::string function, line;
  std::vector<std::string> frames;
};

// The site that holds most of what was live.
const std::pair<std::string, uint64_t>* Holder(const OomRow& row) {
  return row.oom.holders.empty() ? nullptr : &row.oom.holders[0];
}

std::vector<RowColumn<OomRow>> OomColumns() {
  using Column = TableColumn;
  using Values = ColumnValues;
  using Row = OomRow;
  std::vector<RowColumn<Row>> columns = FieldColumns(&Row::oom, {"rank", "pid"});
  const std::vector<RowColumn<Row>> others = {
      {{"holder", Column::kText, true},
       [](const Row& row, Values* to) { to->AddTextOrNull(Holder(row) == nullptr ? "" : Holder(row)->first); }},
      {{"holder_bytes", Column::kInteger, true},
       [](const Row& row, Values* to) { Holder(row) == nullptr ? to->AddNull() : to->Add(Holder(row)->second); }},
      {{"function", Column::kText, true}, AddMember<Row, &Row::function>},
      {{"line", Column::kText, true}, AddMember<Row, &Row::line>},
      {{"frames", Column::kTexts}, AddMember<Row, &Row::frames>},
  };
  columns.insert(columns.end(), others.begin(), others.end());
  return WithProcess<Row>(std::move(columns));
}

std::vector<OomRow> OomRows(const ProcessSummary& process) {
  std::vector<OomRow> rows;
  for (const ReportOom& oom : process.findings.oom) {
    const size_t named = NamingFrame(oom.stack, 0);
    const ReportFrame* frame = named < oom.stack.size() ? &oom.stack[named] : nullptr;
    rows.push_back({nullptr, oom, FunctionText(frame), LineText(frame), FrameTexts(oom.stack)});
  }
  return rows;
}

}  // namespace

std::unique_ptr<Exporter> MakeOomTable(const MakeTableFormat& make) {
  return std::make_unique<FindingsTable<OomRow>>(OomColumns(), OomRows, make);
}

}  // namespace vramtrack
