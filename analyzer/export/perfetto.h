// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_PERFETTO_H_
#define ANALYZER_EXPORT_PERFETTO_H_

#include <memory>

#include "analyzer/export/exporter.h"

namespace vramtrack {

// Perfetto's own trace format: protos/perfetto/trace/trace.proto. A counter track for each curve of each device, a
// slice a step, an instant where memory ran out.
std::unique_ptr<Exporter> MakePerfetto(const ExportOptions& options, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_PERFETTO_H_
