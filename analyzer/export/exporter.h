// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_EXPORTER_H_
#define ANALYZER_EXPORT_EXPORTER_H_

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/export/exported_process.h"

namespace vramtrack {

// Takes a piece of the output. False if the output was closed: stop.
using ExportSink = std::function<bool(std::string_view)>;

// Writes one format. Thread-compatible.
class Exporter {
 public:
  virtual ~Exporter() = default;

  // One of the processes, in the order of the paths. The error is one line.
  virtual absl::Status Add(ExportedProcess& process) = 0;
  // The same for a process of the summary at `path`. Most formats need data that only a trace has.
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

// Null for an unknown name.
const ExportFormat* FindExportFormat(std::string_view name);
std::vector<std::string> ExportFormatNames();

// pprof's profile.proto, gzipped: google/pprof proto/profile.proto.
std::unique_ptr<Exporter> MakePprof(const ExportOptions& options, ExportSink sink);
// A line a stack, outermost first, and its value: Brendan Gregg's flamegraph.pl.
std::unique_ptr<Exporter> MakeFolded(const ExportOptions& options, ExportSink sink);
// speedscope's own JSON, a profile for each device of each process: its file-format-schema.json.
std::unique_ptr<Exporter> MakeSpeedscope(const ExportOptions& options, ExportSink sink);

// PyTorch's memory snapshot, as torch.cuda.memory._dump_snapshot writes it: torch/csrc/cuda/memory_snapshot.cpp, read
// by torch/utils/viz/MemoryViz.js and torch/cuda/_memory_viz.py. Of one process: a second one is an error.
std::unique_ptr<Exporter> MakeTorchSnapshot(const ExportOptions& options, ExportSink sink);

// Perfetto's own trace format: protos/perfetto/trace/trace.proto. A counter track for each curve of each device, a
// slice a step, an instant where memory ran out.
std::unique_ptr<Exporter> MakePerfetto(const ExportOptions& options, ExportSink sink);

// Firefox Profiler's processed profile, version 48: a thread for each device, with its allocations and frees as native
// allocations, of which the viewer shows what a chosen range of time leaves behind.
std::unique_ptr<Exporter> MakeFirefox(const ExportOptions& options, ExportSink sink);

// OpenMetrics 1.0 text, as a textfile collector of Prometheus takes it: sums of a process and its devices. Never sites:
// a monitoring system keeps a series for each set of labels.
std::unique_ptr<Exporter> MakeOpenMetrics(const ExportOptions& options, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_EXPORTER_H_
