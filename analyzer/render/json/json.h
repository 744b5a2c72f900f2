// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_JSON_JSON_H_
#define ANALYZER_RENDER_JSON_JSON_H_

#include <string>

#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Renders the report as JSON that conforms to docs/report.schema.json, with a final new line. The same report gives the
// same bytes. Bytes of names and paths that are not UTF-8 become U+FFFD, numbers that are not finite become null.
std::string RenderJson(const Report& report);
// The same in a single line.
std::string RenderJsonLine(const Report& report);

// Render what happened in a job that is watched, each as JSON in a single line: a site leaks; a device will soon be
// full. `target` is what is watched.
std::string RenderLeakEvent(const std::string& target, const Report& report, const ReportSite& site);
std::string RenderFullEvent(const std::string& target, const Report& report, const ReportDevice& device);

// Renders the comparison as JSON that conforms to docs/diff.schema.json. It is valid UTF-8, whatever the traces
// contain.
std::string RenderDiffJson(const DiffReport& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_JSON_H_
