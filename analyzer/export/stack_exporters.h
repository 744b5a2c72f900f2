// SPDX-License-Identifier: Apache-2.0
//
// Formats of stacks with values.
#ifndef ANALYZER_EXPORT_STACK_EXPORTERS_H_
#define ANALYZER_EXPORT_STACK_EXPORTERS_H_

#include <memory>

#include "analyzer/export/exporter.h"

namespace vramtrack {

// pprof's profile.proto, gzipped: google/pprof proto/profile.proto.
std::unique_ptr<Exporter> MakePprof(const ExportOptions& options, ExportSink sink);
// A line a stack, outermost first, and its value: Brendan Gregg's flamegraph.pl.
std::unique_ptr<Exporter> MakeFolded(const ExportOptions& options, ExportSink sink);
// speedscope's own JSON, a profile for each device of each process: its file-format-schema.json.
std::unique_ptr<Exporter> MakeSpeedscope(const ExportOptions& options, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_STACK_EXPORTERS_H_
