// SPDX-License-Identifier: Apache-2.0
//
// Tables of a trace, for Parquet and CSV. docs/export.md describes their columns.
#ifndef ANALYZER_EXPORT_TABLES_H_
#define ANALYZER_EXPORT_TABLES_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/exporter.h"
#include "analyzer/export/table_writer.h"

namespace vramtrack {

struct ExportTable {
  const char* name;  // the value of --table
  std::unique_ptr<Exporter> (*make)(const MakeTableFormat& make);
};

// Returns the table with this name; null if the name is unknown.
const ExportTable* FindExportTable(std::string_view name);
std::vector<std::string> ExportTableNames();

// Make exporters of ExportOptions::table as Parquet or CSV.
std::unique_ptr<Exporter> MakeParquet(const ExportOptions& options, ExportSink sink);
std::unique_ptr<Exporter> MakeCsv(const ExportOptions& options, ExportSink sink);

// Makes a table with one row per call stack.
std::unique_ptr<Exporter> MakeSiteTable(const MakeTableFormat& make);
// Makes a table with one row per event.
std::unique_ptr<Exporter> MakeEventTable(const MakeTableFormat& make);
// Makes a table with one row per step and device.
std::unique_ptr<Exporter> MakeStepTable(const MakeTableFormat& make);
// Makes a table with one row per site and group of consecutive steps.
std::unique_ptr<Exporter> MakeWindowTable(const MakeTableFormat& make);
// Make tables with one row per process, per device, and per failed allocation.
std::unique_ptr<Exporter> MakeRunTable(const MakeTableFormat& make);
std::unique_ptr<Exporter> MakeDeviceTable(const MakeTableFormat& make);
std::unique_ptr<Exporter> MakeOomTable(const MakeTableFormat& make);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_TABLES_H_
