// SPDX-License-Identifier: Apache-2.0
//
// Tables of what was found out about processes: from their traces, or from a summary of them.
#ifndef ANALYZER_EXPORT_FINDINGS_TABLE_H_
#define ANALYZER_EXPORT_FINDINGS_TABLE_H_

#include <deque>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "analyzer/export/exporter.h"
#include "analyzer/export/table_writer.h"
#include "analyzer/summary/process_summary.h"

namespace vramtrack {

// Row has `const TableProcess* process`, which it finds filled in.
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
  std::deque<TableProcess> processes_;  // stay where they are
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
// An empty text is nothing where the column is nullable.
inline void AddValue(const std::string& value, ColumnValues* to) {
  value.empty() && to->column().nullable ? to->AddNull() : to->AddText(value);
}

// Columns of a Row of type `Of` from members of it.
template <typename Of, auto kMember>
void AddMember(const Of& row, ColumnValues* to) {
  AddValue(row.*kMember, to);
}

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_FINDINGS_TABLE_H_
