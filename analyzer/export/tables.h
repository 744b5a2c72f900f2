// SPDX-License-Identifier: Apache-2.0
//
// A trace as tables, for Parquet and CSV: what their columns mean is in docs/export.md.
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
  const char* name;  // of --table
  std::unique_ptr<Exporter> (*make)(const MakeTableFormat& make);
};

// Null for a name that there is no table of.
const ExportTable* FindExportTable(std::string_view name);
std::vector<std::string> ExportTableNames();

// ExportOptions::table as Parquet or CSV.
std::unique_ptr<Exporter> MakeParquet(const ExportOptions& options, ExportSink sink);
std::unique_ptr<Exporter> MakeCsv(const ExportOptions& options, ExportSink sink);

// A row a call stack.
std::unique_ptr<Exporter> MakeSiteTable(const MakeTableFormat& make);
// A row an event.
std::unique_ptr<Exporter> MakeEventTable(const MakeTableFormat& make);
// A row a step and device.
std::unique_ptr<Exporter> MakeStepTable(const MakeTableFormat& make);
// A row a site and some steps that follow each other.
std::unique_ptr<Exporter> MakeWindowTable(const MakeTableFormat& make);
// A row a process; a row a device; a row an allocation that failed.
std::unique_ptr<Exporter> MakeRunTable(const MakeTableFormat& make);
std::unique_ptr<Exporter> MakeDeviceTable(const MakeTableFormat& make);
std::unique_ptr<Exporter> MakeOomTable(const MakeTableFormat& make);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_TABLES_H_
