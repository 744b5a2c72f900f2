// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_EXPORTER_H_
#define ANALYZER_EXPORT_EXPORTER_H_

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/exported_process.h"
#include "analyzer/export/table.h"

namespace vramtrack {

// Writes one export format. Thread-compatible.
class Exporter {
 public:
  virtual ~Exporter() = default;

  // Adds a process, in the order of the paths. The error is one line.
  virtual absl::Status Add(ExportedProcess& process) = 0;
  // Adds a process of the summary at `path`. Most formats need data that only a trace has.
  virtual absl::Status AddSummary(const std::string& path, const ProcessSummary& process);
  // Writes the end of the output, after the last process.
  virtual void Finish() {}
};

struct ExportFormat {
  const char* name;  // the value of --to
  bool binary;
  bool tables;  // it contains ExportOptions::table
  std::unique_ptr<Exporter> (*make)(const ExportOptions& options, ExportSink sink);
};

// Returns the format with this name; null if the name is unknown.
const ExportFormat* FindExportFormat(std::string_view name);
std::vector<std::string> ExportFormatNames();

// Makes an exporter of pprof's profile.proto, gzipped: google/pprof proto/profile.proto.
std::unique_ptr<Exporter> MakePprof(const ExportOptions& options, ExportSink sink);
// Makes an exporter of folded stacks, one line per stack, outermost frame first, and its value: Brendan Gregg's
// flamegraph.pl.
std::unique_ptr<Exporter> MakeFolded(const ExportOptions& options, ExportSink sink);
// Makes an exporter of speedscope's JSON, with one profile for each device of each process: its
// file-format-schema.json.
std::unique_ptr<Exporter> MakeSpeedscope(const ExportOptions& options, ExportSink sink);

// Makes an exporter of PyTorch's memory snapshot, as torch.cuda.memory._dump_snapshot writes it:
// torch/csrc/cuda/memory_snapshot.cpp, read by torch/utils/viz/MemoryViz.js and torch/cuda/_memory_viz.py. It holds one
// process: adding a second one is an error.
std::unique_ptr<Exporter> MakeTorchSnapshot(const ExportOptions& options, ExportSink sink);

// Makes an exporter of Perfetto's trace format: protos/perfetto/trace/trace.proto. It has one counter track for each
// curve of each device, one slice per step, and an instant event for each failed allocation.
std::unique_ptr<Exporter> MakePerfetto(const ExportOptions& options, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_EXPORTER_H_
