// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/time/time.h"
#include "analyzer/export/table.h"

namespace vramtrack {
namespace {

// Whether a spreadsheet would take it for a formula, and run what a file or a function is called.
bool IsFormula(const std::string& text) {
  if (text.empty() || std::strchr("=+-@\t\r\n", text[0]) == nullptr || text[0] == '\0') return false;
  double number;
  return !absl::SimpleAtod(text, &number);
}

std::string Quoted(const std::string& plain) {
  const std::string text = IsFormula(plain) ? "'" + plain : plain;
  if (!text.empty() && text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return absl::StrCat("\"", absl::StrReplaceAll(text, {{"\"", "\"\""}}), "\"");
}

// The shortest of two that is the same number when it is read.
std::string NumberText(uint64_t word) {
  double value;
  std::memcpy(&value, &word, sizeof value);
  char text[40];
  snprintf(text, sizeof text, "%.15g", value);
  if (std::strtod(text, nullptr) != value) snprintf(text, sizeof text, "%.17g", value);
  return text;
}

std::string TimeText(uint64_t unix_us) {
  return absl::FormatTime("%Y-%m-%dT%H:%M:%E6SZ", absl::FromUnixMicros(static_cast<int64_t>(unix_us)),
                          absl::UTCTimeZone());
}

// Reads a column from its first row to its last one.
class ColumnReader {
 public:
  explicit ColumnReader(const ColumnValues& values) : values_(values) {
    if (values.column().type != TableColumn::kText) return;
    for (const std::string& symbol : values.symbols()) quoted_.push_back(Quoted(symbol));
  }

  void AppendNext(std::string* row) {
    const size_t at = row_++;
    if (!values_.present().empty() && !values_.present()[at]) return;
    switch (values_.column().type) {
      case TableColumn::kInteger:
        return absl::StrAppend(row, static_cast<int64_t>(NextWord()));
      case TableColumn::kUnsigned:
        return absl::StrAppend(row, NextWord());
      case TableColumn::kNumber:
        return absl::StrAppend(row, NumberText(NextWord()));
      case TableColumn::kTruth:
        return absl::StrAppend(row, NextWord() != 0 ? "true" : "false");
      case TableColumn::kTime:
        return absl::StrAppend(row, TimeText(NextWord()));
      case TableColumn::kText:
        return absl::StrAppend(row, quoted_[NextWord()]);
      case TableColumn::kTexts: {
        std::string joined;
        for (uint32_t i = 0; i < values_.lengths()[at]; ++i) {
          absl::StrAppend(&joined, i == 0 ? "" : ";", values_.symbols()[NextWord()]);
        }
        return absl::StrAppend(row, Quoted(joined));
      }
    }
  }

 private:
  uint64_t NextWord() { return values_.words()[word_++]; }

  const ColumnValues& values_;
  std::vector<std::string> quoted_;  // by symbol
  size_t row_ = 0, word_ = 0;
};

class CsvWriter final : public TableFormat {
 public:
  CsvWriter(const std::vector<TableColumn>& columns, ExportSink sink) : sink_(std::move(sink)) {
    std::string names;
    for (const TableColumn& column : columns) absl::StrAppend(&names, names.empty() ? "" : ",", column.name);
    sink_(names + "\r\n");
  }

  bool Write(const TableRows& rows) override {
    std::vector<ColumnReader> columns(rows.columns().begin(), rows.columns().end());
    std::string row;
    for (size_t i = 0; i < rows.rows(); ++i) {
      row.clear();
      for (ColumnReader& column : columns) {
        if (&column != &columns.front()) row += ',';
        column.AppendNext(&row);
      }
      row += "\r\n";
      if (!sink_(row)) return false;
    }
    return true;
  }
  void Finish() override {}

 private:
  ExportSink sink_;
};

}  // namespace

std::unique_ptr<TableFormat> MakeCsvWriter(const std::vector<TableColumn>& columns, ExportSink sink) {
  return std::make_unique<CsvWriter>(columns, std::move(sink));
}

}  // namespace vramtrack
