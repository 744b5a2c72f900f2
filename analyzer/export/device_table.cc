// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "analyzer/base/display_text.h"
#include "analyzer/export/findings_table.h"
#include "analyzer/export/tables.h"

namespace vramtrack {
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
  const bool foretold = growth != nullptr && growth->steps_to_oom;
  foretold ? AddValue(growth->*kMember, to) : to->AddNull();
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

}  // namespace vramtrack
