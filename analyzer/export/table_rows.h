// SPDX-License-Identifier: Apache-2.0
//
// Rows of a table, stored by column until there are enough of them to write.
#ifndef ANALYZER_EXPORT_TABLE_ROWS_H_
#define ANALYZER_EXPORT_TABLE_ROWS_H_

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
#include <vector>

#include "absl/container/flat_hash_map.h"

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

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_TABLE_ROWS_H_
