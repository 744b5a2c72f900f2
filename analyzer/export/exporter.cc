// SPDX-License-Identifier: Apache-2.0

#include "analyzer/export/exporter.h"

#include "absl/strings/str_cat.h"
#include "analyzer/export/tables.h"

namespace vramtrack {
namespace {

constexpr ExportFormat kFormats[] = {
    {"pprof", true, false, MakePprof},       {"torch-snapshot", true, false, MakeTorchSnapshot},
    {"perfetto", true, false, MakePerfetto}, {"speedscope", false, false, MakeSpeedscope},
    {"folded", false, false, MakeFolded},    {"csv", false, true, MakeCsv},
    {"parquet", true, true, MakeParquet},
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
