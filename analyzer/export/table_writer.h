// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table, stored by column until there are enough of them to write, and what writes them.
#ifndef ANALYZER_EXPORT_TABLE_WRITER_H_
#define ANALYZER_EXPORT_TABLE_WRITER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/summary/process_summary.h"

namespace vramtrack {

struct TableColumn {
  enum Type {
    kInteger,   // signed, 64 bits
    kUnsigned,  // 64 bits: addresses and handles
    kNumber,    // double
    kTruth,     // bool
    kTime,      // microseconds since 1970, UTC
    kText,      // UTF-8
    kTexts,     // a list of texts
  };

  std::string name;
  Type type;
  bool nullable = false;
};

// The values of one column. Thread-compatible.
class ColumnValues {
 public:
  explicit ColumnValues(const TableColumn& column) : column_(column) {}

  const TableColumn& column() const { return column_; }
  bool is_text() const { return column_.type == TableColumn::kText || column_.type == TableColumn::kTexts; }

  // Adds the value of a row. It must have the column's type; not for kTexts.
  void Add(uint64_t word) {
    words_.push_back(word);
    if (column_.nullable) present_.push_back(1);
  }
  void AddNumber(double value) {
    uint64_t word;
    std::memcpy(&word, &value, sizeof word);
    Add(word);
  }
  void AddText(std::string_view text) { Add(Symbol(text)); }
  // Adds a text that neither moves nor changes until the next Clear(): faster than AddText().
  void AddLasting(const std::string& text) {
    Recent& recent = recent_[(reinterpret_cast<uintptr_t>(&text) * 0x9e3779b97f4a7c15) >> 58];
    if (recent.text != &text) recent = {&text, Symbol(text)};
    Add(recent.symbol);
  }
  void AddTexts(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) words_.push_back(Symbol(text));
    lengths_.push_back(static_cast<uint32_t>(texts.size()));
  }
  void AddNull() {
    present_.push_back(0);
    ++nulls_;
  }
  template <typename T>
  void AddOptional(const std::optional<T>& value) {
    value ? Add(static_cast<uint64_t>(*value)) : AddNull();
  }
  void AddOptionalNumber(const std::optional<double>& value) { value ? AddNumber(*value) : AddNull(); }
  // Adds a text, or null if it is empty.
  void AddTextOrNull(std::string_view text) { text.empty() ? AddNull() : AddText(text); }

  // Returns the word that represents a text in Add() until the next Clear().
  uint32_t Symbol(std::string_view text);

  // Returns the values that are not null. For texts, these are symbols.
  const std::vector<uint64_t>& words() const { return words_; }
  const std::vector<uint8_t>& present() const { return present_; }   // one for each row; empty unless nullable
  const std::vector<uint32_t>& lengths() const { return lengths_; }  // for kTexts: one for each row
  const std::deque<std::string>& symbols() const { return symbols_; }
  size_t nulls() const { return nulls_; }
  size_t text_bytes() const { return text_bytes_; }

  void Clear();

 private:
  struct Recent {
    const std::string* text = nullptr;
    uint32_t symbol = 0;
  };

  TableColumn column_;
  std::array<Recent, 64> recent_;  // cache by address
  std::vector<uint64_t> words_;
  std::vector<uint8_t> present_;
  std::vector<uint32_t> lengths_;
  std::deque<std::string> symbols_;  // a deque, because views of its elements are kept
  absl::flat_hash_map<std::string_view, uint32_t> symbol_of_;
  size_t nulls_ = 0, text_bytes_ = 0;
};

struct TableRows {
  explicit TableRows(const std::vector<TableColumn>& table) : columns(table.begin(), table.end()) {}

  std::vector<ColumnValues> columns;
  size_t rows = 0;
};

// A file format for tables. Thread-compatible.
class TableFormat {
 public:
  virtual ~TableFormat() = default;

  // Writes several rows; is called at least once. Returns false if the output was closed.
  virtual bool Write(const TableRows& rows) = 0;
  // Writes the end of the file, after the last rows.
  virtual void Finish() = 0;
};

// Makes a writer of CSV (RFC 4180) with a header line. Null is an empty field, an empty text is "". Lists are joined by
// semicolons; times are in ISO 8601.
std::unique_ptr<TableFormat> MakeCsvWriter(const std::vector<TableColumn>& columns,
                                           std::function<bool(std::string_view)> sink);

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
