// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "analyzer/export/parquet_writer.h"
#include "analyzer/export/table_writer.h"

namespace vramtrack {
namespace {

constexpr ExportTable kTables[] = {
    {"sites", MakeSiteTable}, {"events", MakeEventTable},   {"steps", MakeStepTable}, {"windows", MakeWindowTable},
    {"runs", MakeRunTable},   {"devices", MakeDeviceTable}, {"oom", MakeOomTable}};

}  // namespace

const ExportTable* FindExportTable(std::string_view name) {
  for (const ExportTable& table : kTables) {
    if (name == table.name) return &table;
  }
  return nullptr;
}

std::vector<std::string> ExportTableNames() {
  std::vector<std::string> names;
  for (const ExportTable& table : kTables) names.emplace_back(table.name);
  return names;
}

std::unique_ptr<Exporter> MakeParquet(const ExportOptions& options, ExportSink sink) {
  return FindExportTable(options.table)->make([&sink](const std::vector<TableColumn>& columns) {
    return std::make_unique<ParquetWriter>(columns, sink);
  });
}

std::unique_ptr<Exporter> MakeCsv(const ExportOptions& options, ExportSink sink) {
  return FindExportTable(options.table)->make([&sink](const std::vector<TableColumn>& columns) {
    return MakeCsvWriter(columns, sink);
  });
}

}  // namespace vramtrack
