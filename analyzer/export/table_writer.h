// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_TABLE_WRITER_H_
#define ANALYZER_EXPORT_TABLE_WRITER_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/export/table_rows.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/process_summary.h"

namespace vramtrack {

using MakeTableFormat = std::function<std::unique_ptr<TableFormat>(const std::vector<TableColumn>& columns)>;

// A column, and the function that adds its value from a row.
template <typename Row>
struct RowColumn {
  TableColumn column;
  std::function<void(const Row& row, ColumnValues* values)> add;
};

// The data about its process that every row has.
struct TableProcess {
  explicit TableProcess(const Trace& of);
  // `path` is that of the summary, or of the trace that it was made from.
  TableProcess(const std::string& path, const ProcessSummary& of);

  std::string run;  // unique to this process worldwide: host, start and pid
  std::string trace;
  uint32_t pid;
  std::optional<int> rank;
};

// Returns `columns` after the columns about the process, with which every table starts. Row must have `const
// TableProcess* process`.
template <typename Row>
std::vector<RowColumn<Row>> WithProcess(std::vector<RowColumn<Row>> columns) {
  std::vector<RowColumn<Row>> all = {
      {{"run", TableColumn::kText}, [](const Row& row, ColumnValues* values) { values->AddLasting(row.process->run); }},
      {{"trace", TableColumn::kText},
       [](const Row& row, ColumnValues* values) { values->AddLasting(row.process->trace); }},
      {{"pid", TableColumn::kInteger}, [](const Row& row, ColumnValues* values) { values->Add(row.process->pid); }},
      {{"rank", TableColumn::kInteger, true},
       [](const Row& row, ColumnValues* values) { values->AddOptional(row.process->rank); }},
  };
  all.insert(all.end(), columns.begin(), columns.end());
  return all;
}

// Writes the rows of one table; buffers at most one row group. Thread-compatible.
template <typename Row>
class TableWriter {
 public:
  TableWriter(std::vector<RowColumn<Row>> columns, const MakeTableFormat& make)
      : columns_(std::move(columns)), rows_(TableColumns()), format_(make(TableColumns())) {}

  // Returns false if the output was closed. The data that the row points to must not change until Flush().
  bool Add(const Row& row) {
    for (size_t i = 0; i < columns_.size(); ++i) columns_[i].add(row, &rows_.columns[i]);
    ++rows_.rows;
    const bool is_full = rows_.rows == kMostRows || (rows_.rows % kTextCheck == 0 && TextBytes() > kMostTextBytes);
    return is_full ? Flush() : open_;
  }
  bool Flush() {
    if (rows_.rows > 0) open_ = format_->Write(rows_);
    for (ColumnValues& column : rows_.columns) column.Clear();
    rows_.rows = 0;
    return open_;
  }
  void Finish() {
    Flush();
    format_->Finish();
  }

 private:
  // Row groups have the size that DuckDB and others use: large enough for a reader to process several in parallel.
  static constexpr size_t kMostRows = 1 << 17, kTextCheck = 256, kMostTextBytes = 32 << 20;

  std::vector<TableColumn> TableColumns() const {
    std::vector<TableColumn> columns;
    for (const RowColumn<Row>& column : columns_) columns.push_back(column.column);
    return columns;
  }
  size_t TextBytes() const {
    size_t bytes = 0;
    for (const ColumnValues& column : rows_.columns) bytes += column.text_bytes();
    return bytes;
  }

  std::vector<RowColumn<Row>> columns_;
  TableRows rows_;
  std::unique_ptr<TableFormat> format_;
  bool open_ = true;  // the output has not been closed
};

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_TABLE_WRITER_H_
