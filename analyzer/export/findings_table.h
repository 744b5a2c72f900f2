// SPDX-License-Identifier: Apache-2.0
//
// Tables of the findings about processes, from their traces or from a summary.
#ifndef ANALYZER_EXPORT_FINDINGS_TABLE_H_
#define ANALYZER_EXPORT_FINDINGS_TABLE_H_

#include <cstdint>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/export/exporter.h"
#include "analyzer/export/table_writer.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"
#include "analyzer/summary/process_summary.h"

namespace vramtrack {

// A table of findings. Row must have `const TableProcess* process`, which is set before the other fields are computed.
template <typename Row>
class FindingsTable final : public Exporter {
 public:
  using MakeRows = std::vector<Row> (*)(const ProcessSummary& process);

  FindingsTable(std::vector<RowColumn<Row>> columns, MakeRows rows, const MakeTableFormat& make)
      : rows_(rows), writer_(std::move(columns), make) {}

  absl::Status Add(ExportedProcess& process) override { return AddSummary(process.trace().path(), process.summary()); }
  absl::Status AddSummary(const std::string& path, const ProcessSummary& summary) override {
    processes_.emplace_back(path, summary);
    for (Row& row : rows_(summary)) {
      row.process = &processes_.back();
      writer_.Add(row);
    }
    return absl::OkStatus();
  }
  void Finish() override { writer_.Finish(); }

 private:
  MakeRows rows_;
  std::deque<TableProcess> processes_;  // a deque, because rows point to its elements
  TableWriter<Row> writer_;
};

template <typename T>
void AddValue(const T& value, ColumnValues* to) {
  if constexpr (std::is_floating_point_v<T>) {
    to->AddNumber(value);
  } else if constexpr (std::is_integral_v<T>) {
    to->Add(static_cast<uint64_t>(value));
  } else if constexpr (std::is_same_v<T, std::optional<double>>) {
    to->AddOptionalNumber(value);
  } else {
    to->AddOptional(value);
  }
}
inline void AddValue(const std::vector<std::string>& value, ColumnValues* to) { to->AddTexts(value); }
// Adds a text; null for an empty text in a nullable column.
inline void AddValue(const std::string& value, ColumnValues* to) {
  value.empty() && to->column().nullable ? to->AddNull() : to->AddText(value);
}

// Columns of a Row of type `Of` from members of it.
template <typename Of, auto kMember>
void AddMember(const Of& row, ColumnValues* to) {
  AddValue(row.*kMember, to);
}

// Makes columns from a struct's list of fields (model/fields.h): one for each field that is a plain value, two for an
// interval. Lists and structs have no column.

// A visitor that calls `take(name, nullable, value)` for each plain value.
template <class Take>
class PlainValues {
 public:
  explicit PlainValues(Take take) : take_(std::move(take)) {}

  template <class T>
  void operator()(uint32_t, const char* name, T&& value, const char* = "") {
    Tell(name, value);
  }

 private:
  template <class T>
  void Tell(const std::string& name, T& value, bool nullable = false) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) take_(name, nullable, value);
    if constexpr (kHasNames<T>) take_(name, nullable, std::string(NameOf(value)));
  }
  template <class T>
  void Tell(const std::string& name, std::optional<T>& value) {
    if constexpr (std::is_arithmetic_v<T>) take_(name, true, value);
    if constexpr (kHasNames<T>) take_(name, true, std::string(value ? NameOf(*value) : ""));
  }
  template <class T>
  void Tell(const std::string& name, field::OrNull<T>& wrapped) {
    Tell(name, wrapped.value, true);
  }
  void Tell(const std::string& name, field::SiteReference& wrapped) { Tell(name, wrapped.value, true); }
  template <class E>
  void Tell(const std::string& name, field::OneOf<E>& wrapped) {
    Tell(name, wrapped.value);
  }
  void Tell(const std::string& name, field::Interval& wrapped) {
    Tell(name + "_low", wrapped.low);
    Tell(name + "_high", wrapped.high);
  }

  Take take_;
};

template <class Of, class Take>
void ForEachPlainValue(const Of& of, Take take) {
  PlainValues<Take> visitor(std::move(take));
  Fields(visitor, const_cast<Of&>(of));  // the visitor does not change it
}

inline void AddPlain(const std::string& text, ColumnValues* to) { AddValue(Printable(text), to); }
template <class T>
void AddPlain(const T& value, ColumnValues* to) {
  AddValue(value, to);
}

template <class T>
TableColumn::Type ColumnType(const T&) {
  if constexpr (std::is_same_v<T, bool>) return TableColumn::kTruth;
  if constexpr (std::is_same_v<T, std::string>) return TableColumn::kText;
  return std::is_same_v<T, double> || std::is_same_v<T, std::optional<double>> ? TableColumn::kNumber
                                                                               : TableColumn::kInteger;
}

// Returns the columns of the struct `row.*member`, except those in `left_out`. An empty text becomes null.
template <class Row, class Of>
std::vector<RowColumn<Row>> FieldColumns(Of Row::*member, const std::set<std::string>& left_out) {
  std::vector<RowColumn<Row>> columns;
  size_t index = 0;
  ForEachPlainValue(Row().*member, [&](const std::string& name, bool nullable, const auto& value) {
    const TableColumn::Type type = ColumnType(value);
    const auto add = [member, index](const Row& row, ColumnValues* to) {
      size_t at = 0;
      ForEachPlainValue(row.*member, [&](const std::string&, bool, const auto& one) {
        if (at++ == index) AddPlain(one, to);
      });
    };
    ++index;
    if (left_out.count(name) == 0) columns.push_back({{name, type, nullable || type == TableColumn::kText}, add});
  });
  return columns;
}

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_FINDINGS_TABLE_H_
