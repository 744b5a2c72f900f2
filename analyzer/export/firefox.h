// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_EXPORT_FIREFOX_H_
#define ANALYZER_EXPORT_FIREFOX_H_

#include <memory>

#include "analyzer/export/exporter.h"

namespace vramtrack {

// Firefox Profiler's processed profile, version 48: a thread for each device, with its allocations and frees as native
// allocations, of which the viewer shows what a chosen range of time leaves behind.
std::unique_ptr<Exporter> MakeFirefox(const ExportOptions& options, ExportSink sink);

}  // namespace vramtrack

#endif  // ANALYZER_EXPORT_FIREFOX_H_
