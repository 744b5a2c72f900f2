// SPDX-License-Identifier: Apache-2.0

#include "analyzer/export/exporter.h"

#include "absl/strings/str_cat.h"
#include "analyzer/export/tables.h"

namespace vramtrack {
namespace {

constexpr auto kPeak = ExportOptions::At::kPeak, kEnd = ExportOptions::At::kEnd;
constexpr ExportFormat kFormats[] = {
    {"pprof", "pprof, and what reads its profiles", true, false, kPeak, MakePprof},
    {"torch-snapshot", "memory_viz and torch.cuda._memory_viz", true, false, kPeak, MakeTorchSnapshot},
    {"perfetto", "Perfetto's UI and trace_processor", true, false, kPeak, MakePerfetto},
    {"speedscope", "speedscope", false, false, kPeak, MakeSpeedscope},
    {"folded", "flamegraph.pl, inferno, speedscope", false, false, kPeak, MakeFolded},
    {"firefox", "Firefox Profiler", false, false, kEnd, MakeFirefox},
    {"openmetrics", "Prometheus' textfile collector", false, false, kPeak, MakeOpenMetrics},
    {"csv", "spreadsheets, pandas, DuckDB", false, true, kPeak, MakeCsv},
    {"parquet", "DuckDB, pandas, Polars, Spark", true, true, kPeak, MakeParquet},
};

}  // namespace

absl::Status Exporter::AddSummary(const std::string& path, const ProcessSummary& /*process*/) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, ": is a summary, which has too little for this: export a trace"));
}

const ExportFormat* FindExportFormat(std::string_view name) {
  for (const ExportFormat& format : kFormats) {
    if (name == format.name) return &format;
  }
  return nullptr;
}

std::vector<std::string> ExportFormatNames() {
  std::vector<std::string> names;
  for (const ExportFormat& format : kFormats) names.emplace_back(format.name);
  return names;
}

}  // namespace vramtrack
