// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_OPENMETRICS_H_
#define ANALYZER_EXPORT_OPENMETRICS_H_

#include <memory>

#include "analyzer/export/exporter.h"

namespace vramtrack {

// OpenMetrics 1.0 text, as a textfile collector of Prometheus takes it: sums of a process and its devices. Never sites:
// a monitoring system keeps a series for each set of labels.
std::unique_ptr<Exporter> MakeOpenMetrics(const ExportOptions& options, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_OPENMETRICS_H_
