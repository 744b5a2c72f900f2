// SPDX-License-Identifier: Apache-2.0
//
// Tables of a trace, for Parquet and CSV. docs/export.md describes their columns.
#ifndef ANALYZER_EXPORT_TABLES_H_
#define ANALYZER_EXPORT_TABLES_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/export/exporter.h"
#include "analyzer/export/table.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/process_summary.h"

namespace vramtrack {

// The data about its process that every row begins with.
struct TableProcess {
  explicit TableProcess(const Trace& of);
  // `path` is that of the summary, or of the trace that it was made from.
  TableProcess(const std::string& path, const ProcessSummary& of);

  std::string run;  // unique to this process worldwide: host, start and pid
  std::string trace;
  uint32_t pid;
  std::optional<int> rank;
};

// Writes the rows of one table; buffers at most one row group. Thread-compatible.
class TableWriter {
 public:
  // `declare` declares the columns after those about the process.
  TableWriter(void (*declare)(TableRows* columns), MakeTableFormat make, ExportSink sink);

  void BeginProcess(TableProcess process) { processes_.push_back(std::move(process)); }
  // Adds a row of the process that began last. Row has `void Put(TableRows* columns) const`, see table.h. Returns false
  // if the output was closed.
  template <class Row>
  bool Add(const Row& row) {
    if (!open_) return false;
    rows_.Add([this, &row](TableRows* columns) {
      PutProcess(processes_.back(), columns);
      row.Put(columns);
    });
    const bool is_full =
        rows_.rows() == kMostRows || (rows_.rows() % kTextCheck == 0 && rows_.TextBytes() > kMostTextBytes);
    if (is_full) Flush();
    return open_;
  }
  // Writes the rows; only then may lasting texts go.
  void Flush();
  void Finish() {
    Flush();
    format_->Finish();
  }

 private:
  // Row groups have the size that DuckDB and others use: large enough for a reader to process several in parallel.
  static constexpr size_t kMostRows = 1 << 17, kTextCheck = 256, kMostTextBytes = 32 << 20;

  static void PutProcess(const TableProcess& process, TableRows* columns);

  std::deque<TableProcess> processes_;  // a deque, because rows refer to its texts
  TableRows rows_;
  std::unique_ptr<TableFormat> format_;
  bool open_ = true;  // the output has not been closed
};

struct ExportTable {
  const char* name;  // the value of --table
  void (*declare)(TableRows* columns);
  // Adds the rows of a traced process; null: as those of its summary.
  void (*add_trace)(ExportedProcess* process, TableWriter* table);
  // Adds the rows of a process of a summary; null: a summary does not know them.
  void (*add_summary)(const ProcessSummary& process, TableWriter* table);
};

template <class Row>
void DeclareColumns(TableRows* columns) {
  Row().Put(columns);
}

extern const ExportTable kSiteTable;    // one row per call stack
extern const ExportTable kEventTable;   // one row per event
extern const ExportTable kStepTable;    // one row per step and device
extern const ExportTable kWindowTable;  // one row per site and group of consecutive steps
extern const ExportTable kRunTable;     // one row per process
extern const ExportTable kDeviceTable;  // one row per device of each process
extern const ExportTable kOomTable;     // one row per failed allocation

// Returns the table with this name; null if the name is unknown.
const ExportTable* FindExportTable(std::string_view name);
std::vector<std::string> ExportTableNames();

// Make exporters of ExportOptions::table as Parquet or CSV.
std::unique_ptr<Exporter> MakeParquet(const ExportOptions& options, ExportSink sink);
std::unique_ptr<Exporter> MakeCsv(const ExportOptions& options, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_TABLES_H_
