// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_EXPORTER_H_
#define ANALYZER_EXPORT_EXPORTER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "analyzer/export/exported_process.h"

namespace vramtrack {

// Takes a piece of the output. False: nobody reads on.
using ExportSink = std::function<bool(std::string_view)>;

// Writes one format. Thread-compatible.
class Exporter {
 public:
  virtual ~Exporter() = default;

  // One of the processes, in the order of the paths. The error is one line.
  virtual absl::Status Add(ExportedProcess& process) = 0;
  // The same of a process that is in the summary at `path`. Most formats are made from what only a trace has.
  virtual absl::Status AddSummary(const std::string& path, const ProcessSummary& process);
  // After the last one.
  virtual void Finish() {}
};

struct ExportFormat {
  const char* name;    // of --to
  const char* reader;  // what opens it
  bool binary;
  bool tables;           // it holds ExportOptions::table
  ExportOptions::At at;  // unless the caller chooses another moment
  std::unique_ptr<Exporter> (*make)(const ExportOptions& options, ExportSink sink);
};

// Null for a name that there is no format of.
const ExportFormat* FindExportFormat(std::string_view name);
// "pprof, torch-snapshot, ..."
std::string ExportFormatNames();

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_EXPORTER_H_
