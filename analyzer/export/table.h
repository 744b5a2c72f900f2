// SPDX-License-Identifier: Apache-2.0
//
// Tables as columns. A table declares each column once, in a call that also gives it the value of a row:
//     void Put(TableRows* rows) const { TableRows& column = *rows; column("pid", pid); … }
// The type of a column follows from that of the value; a std::optional, or a pointer to a text, can be null.
#ifndef ANALYZER_EXPORT_TABLE_H_
#define ANALYZER_EXPORT_TABLE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/model/site.h"

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

// Values that C++ has no type of its own for.
struct TableAddress {
  uint64_t value;
};
struct TableTime {
  uint64_t unix_us;
};
// A text that neither moves nor changes until its row is written: faster than one that is copied.
struct LastingText {
  const std::string* text;
};

template <class T>
constexpr TableColumn::Type ColumnType() {
  if (std::is_same_v<T, bool>) return TableColumn::kTruth;
  if (std::is_integral_v<T>) return TableColumn::kInteger;
  if (std::is_floating_point_v<T>) return TableColumn::kNumber;
  if (std::is_same_v<T, TableAddress>) return TableColumn::kUnsigned;
  if (std::is_same_v<T, TableTime>) return TableColumn::kTime;
  return std::is_same_v<T, std::vector<std::string>> ? TableColumn::kTexts : TableColumn::kText;
}

// Returns nullopt if the text is empty or the number is 0.
template <class T>
std::optional<T> OrNull(T value) {
  return value == T() ? std::nullopt : std::optional<T>(std::move(value));
}

template <class T>
std::optional<T> NullUnless(bool known, T value) {
  return known ? std::optional<T>(std::move(value)) : std::nullopt;
}
template <class T>
std::optional<T> NullUnless(bool known, std::optional<T> value) {
  return known ? std::move(value) : std::nullopt;
}

// What the columns of a table are declared with, in place of a row's own.
template <class T>
const T kNone = {};

// The values of one column. Thread-compatible.
class ColumnValues {
 public:
  explicit ColumnValues(TableColumn column) : column_(std::move(column)) {}

  const TableColumn& column() const { return column_; }
  bool is_text() const { return column_.type == TableColumn::kText || column_.type == TableColumn::kTexts; }

  // Adds the value of a row. It must have the column's type. Texts become printable, except lasting ones.
  template <class T>
  void Add(const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      uint64_t word;
      std::memcpy(&word, &value, sizeof word);
      AddWord(word);
    } else if constexpr (std::is_integral_v<T>) {
      AddWord(static_cast<uint64_t>(value));
    } else if constexpr (kHasNames<T>) {
      AddWord(Symbol(NameOf(value)));
    } else {
      AddOther(value);
    }
  }
  void AddNull() {
    present_.push_back(0);
    ++nulls_;
  }

  // Returns the values that are not null. For texts, these are symbols.
  const std::vector<uint64_t>& words() const { return words_; }
  const std::vector<uint8_t>& present() const { return present_; }   // one for each row; empty unless nullable
  const std::vector<uint32_t>& lengths() const { return lengths_; }  // for kTexts: one for each row
  const std::deque<std::string>& symbols() const { return symbols_; }
  size_t nulls() const { return nulls_; }
  size_t text_bytes() const { return text_bytes_; }

  void Clear();

 private:
  void AddWord(uint64_t word) {
    words_.push_back(word);
    if (column_.nullable) present_.push_back(1);
  }
  void AddOther(TableAddress address) { AddWord(address.value); }
  void AddOther(TableTime time) { AddWord(time.unix_us); }
  void AddOther(LastingText lasting);
  void AddOther(std::string_view text);
  void AddOther(const std::vector<std::string>& texts);
  // Returns the number of a text until the next Clear().
  uint32_t Symbol(std::string_view text);

  struct Recent {
    const std::string* text = nullptr;
    uint32_t symbol = 0;
  };

  TableColumn column_;
  std::array<Recent, 64> recent_;  // lasting texts by address
  std::vector<uint64_t> words_;
  std::vector<uint8_t> present_;
  std::vector<uint32_t> lengths_;
  std::deque<std::string> symbols_;  // a deque, because views of its elements are kept
  absl::flat_hash_map<std::string_view, uint32_t> symbol_of_;
  size_t nulls_ = 0, text_bytes_ = 0;
};

// The columns of a table, and the rows that wait to be written. Thread-compatible.
class TableRows {
 public:
  // Calls `put(this)`, which calls this object for each column, in the same order every time. The first call only
  // declares the columns; each later one adds a row.
  template <class PutRow>
  void Add(PutRow put) {
    next_ = 0;
    put(this);
    if (declared_) ++rows_;
    declared_ = true;
  }
  template <class T>
  void operator()(std::string_view name, const T& value) {
    Put(name, &value, false);
  }
  void operator()(std::string_view name, const std::string* lasting) {
    const LastingText value = {lasting};
    Put(name, lasting == nullptr ? nullptr : &value, true);
  }

  size_t rows() const { return rows_; }
  const std::vector<ColumnValues>& columns() const { return columns_; }
  std::vector<TableColumn> declared() const;
  size_t TextBytes() const;
  // Removes the rows.
  void Clear();

 private:
  // Null `value`: null.
  template <class T>
  void Put(std::string_view name, const T* value, bool nullable) {
    if (!declared_) {
      columns_.emplace_back(TableColumn{std::string(name), ColumnType<T>(), nullable});
      return;
    }
    ColumnValues& to = columns_[next_++];
    value == nullptr ? to.AddNull() : to.Add(*value);
  }
  template <class T>
  void Put(std::string_view name, const std::optional<T>* value, bool /*nullable*/) {
    Put(name, *value ? &**value : nullptr, true);
  }

  std::vector<ColumnValues> columns_;
  bool declared_ = false;
  size_t next_ = 0, rows_ = 0;
};

// Which fields of a struct of the model become columns.
struct FieldChoice {
  std::set<std::string_view> left_out;
  std::set<std::string_view> uncertain;  // these can be null, and are unless `certain`
  bool certain = true;
};

// A visitor of such a struct, see model/fields.h: adds a column for each field that is one value, two for an interval.
// Lists and structs have no column. An empty text becomes null.
class FieldColumns {
 public:
  // `sites`: those that the struct refers to; null if it refers to none.
  FieldColumns(TableRows* columns, const FieldChoice& choice, const std::vector<ReportSite>* sites)
      : columns_(*columns), choice_(choice), sites_(sites) {}

  template <class T>
  void operator()(uint32_t, const char* name, T&& value, const char* = "") {
    Look(name, value);
  }

 private:
  template <class T>
  void Look(const std::string& name, const T& value) {
    if constexpr (std::is_arithmetic_v<T>) Put(name, value);
    if constexpr (std::is_same_v<T, std::string>) Put(name, OrNull(value));
    if constexpr (kHasNames<T>) Put(name, std::optional<T>(value));
  }
  template <class T>
  void Look(const std::string& name, const std::optional<T>& value) {
    if constexpr (std::is_arithmetic_v<T> || kHasNames<T>) Put(name, value);
  }
  template <class T>
  void Look(const std::string& name, const field::OrNull<T>& wrapped) {
    Put(name, OrNull(wrapped.value));
  }
  void Look(const std::string& name, const ReportSiteIndex& site) {
    Put(name, OrNull(site.is_none() ? kNone<std::string> : sites_->at(site.value()).id));
  }
  template <class E>
  void Look(const std::string& name, const field::OneOf<E>& wrapped) {
    Look(name, wrapped.value);
  }
  void Look(const std::string& name, const field::Interval& wrapped) {
    Look(name + "_low", wrapped.low);
    Look(name + "_high", wrapped.high);
  }

  template <class T>
  void Put(const std::string& name, const T& value) {
    if (choice_.left_out.count(name) > 0) return;
    if (choice_.uncertain.count(name) == 0) return columns_(name, value);
    columns_(name, NullUnless(choice_.certain, value));
  }

  TableRows& columns_;
  const FieldChoice& choice_;
  const std::vector<ReportSite>* const sites_;
};

template <class T>
void PutFields(const T& of, const FieldChoice& choice, TableRows* columns,
               const std::vector<ReportSite>* sites = nullptr) {
  FieldColumns visitor(columns, choice, sites);
  Fields(visitor, const_cast<T&>(of));  // the visitor does not change it
}

// Receives a piece of a file. Returns false if the reader has closed it: stop then.
using ExportSink = std::function<bool(std::string_view)>;

// A file format for tables. Thread-compatible.
class TableFormat {
 public:
  virtual ~TableFormat() = default;

  // Writes several rows; is called at least once. Returns false if the output was closed.
  virtual bool Write(const TableRows& rows) = 0;
  // Writes the end of the file, after the last rows.
  virtual void Finish() = 0;
};

using MakeTableFormat = std::unique_ptr<TableFormat> (*)(const std::vector<TableColumn>& columns, ExportSink sink);

// Makes a writer of CSV (RFC 4180) with a header line. Null is an empty field, an empty text is "". Lists are joined by
// semicolons; times are in ISO 8601.
std::unique_ptr<TableFormat> MakeCsvWriter(const std::vector<TableColumn>& columns, ExportSink sink);

// Makes a writer of a Parquet file. Each call of Write() makes a row group, in which every column is one page with its
// minimum and maximum, so that a reader can skip it. Memory is bounded by the rows, plus some bytes for each row group.
std::unique_ptr<TableFormat> MakeParquetWriter(const std::vector<TableColumn>& columns, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_TABLE_H_
