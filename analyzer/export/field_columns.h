// SPDX-License-Identifier: Apache-2.0
//
// Columns of a table from a struct's list of fields (model/fields.h): one for each field that is a plain value, two for
// an interval. Lists and structs have none.
#ifndef ANALYZER_EXPORT_FIELD_COLUMNS_H_
#define ANALYZER_EXPORT_FIELD_COLUMNS_H_

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/export/findings_table.h"
#include "analyzer/model/enums.h"
#include "analyzer/model/fields.h"

namespace vramtrack {

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
  }
  template <class T>
  void Tell(const std::string& name, field::OrNull<T>& wrapped) {
    Tell(name, wrapped.value, true);
  }
  void Tell(const std::string& name, field::SiteReference& wrapped) { Tell(name, wrapped.site, true); }
  void Tell(const std::string& name, field::OneOf& wrapped) { Tell(name, wrapped.value, wrapped.or_null); }
  void Tell(const std::string& name, field::Interval& wrapped) {
    Tell(name + "_low", wrapped.low);
    Tell(name + "_high", wrapped.high);
  }

  Take take_;
};

template <class Of, class Take>
void ForEachPlainValue(const Of& of, Take take) {
  PlainValues<Take> visitor(std::move(take));
  Fields(visitor, const_cast<Of&>(of));  // which only looks at it
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

// Columns of the struct `row.*member`, but for those that are `left_out`. A text that is empty is null.
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

#endif  // ANALYZER_EXPORT_FIELD_COLUMNS_H_
