// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "analyzer/export/findings_table.h"
#include "analyzer/export/frame_texts.h"
#include "analyzer/export/tables.h"

namespace vramtrack {
namespace {

struct OomRow {
  const TableProcess* process = nullptr;
  ReportOom oom;
  std::string function, line;
  std::vector<std::string> frames;
};

template <auto kMember>
void AddOom(const OomRow& row, ColumnValues* to) {
  AddValue(row.oom.*kMember, to);
}

// The site that holds most of what was live.
const std::pair<std::string, uint64_t>* Holder(const OomRow& row) {
  return row.oom.holders.empty() ? nullptr : &row.oom.holders[0];
}

std::vector<RowColumn<OomRow>> OomColumns() {
  using Column = TableColumn;
  using Values = ColumnValues;
  using Row = OomRow;
  using Oom = ReportOom;
  return WithProcess<Row>({
      {{"step", Column::kInteger, true}, AddOom<&Oom::step>},
      {{"seconds", Column::kNumber}, AddOom<&Oom::seconds>},
      {{"device", Column::kInteger}, AddOom<&Oom::device>},
      {{"level", Column::kText}, AddOom<&Oom::level>},
      {{"requested", Column::kInteger}, AddOom<&Oom::requested>},
      {{"free", Column::kInteger, true}, AddOom<&Oom::free>},
      {{"largest_free", Column::kInteger, true}, AddOom<&Oom::largest_free>},
      {{"cause", Column::kText, true}, AddOom<&Oom::cause>},
      {{"live", Column::kInteger, true}, AddOom<&Oom::live>},
      {{"reserved", Column::kInteger, true}, AddOom<&Oom::reserved>},
      {{"largest_hole", Column::kInteger, true}, AddOom<&Oom::largest_hole>},
      {{"device_free", Column::kInteger, true}, AddOom<&Oom::device_free>},
      {{"holder", Column::kText, true},
       [](const Row& row, Values* to) { to->AddTextOrNull(Holder(row) == nullptr ? "" : Holder(row)->first); }},
      {{"holder_bytes", Column::kInteger, true},
       [](const Row& row, Values* to) { Holder(row) == nullptr ? to->AddNull() : to->Add(Holder(row)->second); }},
      {{"function", Column::kText, true}, AddMember<Row, &Row::function>},
      {{"line", Column::kText, true}, AddMember<Row, &Row::line>},
      {{"frames", Column::kTexts}, AddMember<Row, &Row::frames>},
  });
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
