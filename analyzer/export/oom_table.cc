// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "analyzer/export/findings_table.h"
#include "analyzer/export/frame_names.h"
#include "analyzer/export/tables.h"

namespace vramtrack {
namespace {

struct OomRow {
  const TableProcess* process = nullptr;
  ReportOom oom;
  std::string function, line;
  std::vector<std::string> frames;
};

// The site that holds most of what was live.
const std::pair<std::string, uint64_t>* Holder(const OomRow& row) {
  return row.oom.holders.empty() ? nullptr : &row.oom.holders[0];
}

std::vector<RowColumn<OomRow>> OomColumns() {
  using Column = TableColumn;
  using Values = ColumnValues;
  using Row = OomRow;
  std::vector<RowColumn<Row>> columns = FieldColumns(&Row::oom, {"rank", "pid"});
  const std::vector<RowColumn<Row>> others = {
      {{"holder", Column::kText, true},
       [](const Row& row, Values* to) { to->AddTextOrNull(Holder(row) == nullptr ? "" : Holder(row)->first); }},
      {{"holder_bytes", Column::kInteger, true},
       [](const Row& row, Values* to) { Holder(row) == nullptr ? to->AddNull() : to->Add(Holder(row)->second); }},
      {{"function", Column::kText, true}, AddMember<Row, &Row::function>},
      {{"line", Column::kText, true}, AddMember<Row, &Row::line>},
      {{"frames", Column::kTexts}, AddMember<Row, &Row::frames>},
  };
  columns.insert(columns.end(), others.begin(), others.end());
  return WithProcess<Row>(std::move(columns));
}

std::vector<OomRow> OomRows(const ProcessSummary& process) {
  std::vector<OomRow> rows;
  for (const ReportOom& oom : process.findings.oom) {
    const size_t named = NamingFrame(oom.stack, 0);
    const ReportFrame* frame = named < oom.stack.size() ? &oom.stack[named] : nullptr;
    rows.push_back({nullptr, oom, FunctionText(frame), LineText(frame), FrameTexts(oom.stack)});
  }
  return rows;
}

}  // namespace

std::unique_ptr<Exporter> MakeOomTable(const MakeTableFormat& make) {
  return std::make_unique<FindingsTable<OomRow>>(OomColumns(), OomRows, make);
}

}  // namespace vramtrack
