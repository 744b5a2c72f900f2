// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/tables.h"

#include "absl/strings/str_cat.h"
#include "analyzer/base/display_text.h"

namespace vramtrack {
namespace {

constexpr const ExportTable* kTables[] = {&kSiteTable, &kEventTable,  &kStepTable, &kWindowTable,
                                          &kRunTable,  &kDeviceTable, &kOomTable};

std::string RunName(const std::string& host, uint64_t start_unix_ns, uint32_t pid) {
  return Printable(absl::StrCat(host, ":", start_unix_ns, ":", pid));
}

class TableExporter final : public Exporter {
 public:
  TableExporter(const ExportOptions& options, MakeTableFormat make, ExportSink sink)
      : table_(*FindExportTable(options.table)), writer_(table_.declare, make, std::move(sink)) {}

  absl::Status Add(ExportedProcess& process) override {
    if (table_.add_trace == nullptr) return AddSummary(process.trace().path(), process.summary());
    writer_.BeginProcess(TableProcess(process.trace()));
    table_.add_trace(&process, &writer_);
    return absl::OkStatus();
  }
  absl::Status AddSummary(const std::string& path, const ProcessSummary& process) override {
    if (table_.add_summary == nullptr) return Exporter::AddSummary(path, process);
    writer_.BeginProcess(TableProcess(path, process));
    table_.add_summary(process, &writer_);
    return absl::OkStatus();
  }
  void Finish() override { writer_.Finish(); }

 private:
  const ExportTable& table_;
  TableWriter writer_;
};

}  // namespace

TableProcess::TableProcess(const Trace& of)
    : run(RunName(of.definitions().process.host, of.clock().start_realtime_ns(), of.definitions().process.pid)),
      trace(Printable(of.path())),
      pid(of.definitions().process.pid),
      rank(of.definitions().process.rank) {}

TableProcess::TableProcess(const std::string& path, const ProcessSummary& of)
    : run(RunName(of.identity.host, of.identity.start_unix_ns, of.identity.pid)),
      trace(Printable(path)),
      pid(of.findings.process.pid),
      rank(of.findings.process.rank) {}

TableWriter::TableWriter(void (*declare)(TableRows* columns), MakeTableFormat make, ExportSink sink) {
  rows_.Add([declare](TableRows* columns) {
    PutProcess(TableProcess("", {}), columns);
    declare(columns);
  });
  format_ = make(rows_.declared(), std::move(sink));
}

void TableWriter::PutProcess(const TableProcess& process, TableRows* columns) {
  TableRows& column = *columns;
  column("run", LastingText{&process.run});
  column("trace", LastingText{&process.trace});
  column("pid", process.pid);
  column("rank", process.rank);
}

void TableWriter::Flush() {
  if (rows_.rows() > 0) open_ = format_->Write(rows_);
  rows_.Clear();
}

const ExportTable* FindExportTable(std::string_view name) {
  for (const ExportTable* table : kTables) {
    if (name == table->name) return table;
  }
  return nullptr;
}

std::vector<std::string> ExportTableNames() {
  std::vector<std::string> names;
  for (const ExportTable* table : kTables) names.emplace_back(table->name);
  return names;
}

std::unique_ptr<Exporter> MakeParquet(const ExportOptions& options, ExportSink sink) {
  return std::make_unique<TableExporter>(options, MakeParquetWriter, std::move(sink));
}

std::unique_ptr<Exporter> MakeCsv(const ExportOptions& options, ExportSink sink) {
  return std::make_unique<TableExporter>(options, MakeCsvWriter, std::move(sink));
}

}  // namespace vramtrack
