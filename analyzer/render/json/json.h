// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_JSON_JSON_H_
#define ANALYZER_RENDER_JSON_JSON_H_

#include <string>

#include "analyzer/model/diff_report.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// The report as JSON, as docs/report.schema.json has it, with a new line at the end. The same report gives the same
// bytes. Bytes of names and paths that are not UTF-8 become U+FFFD, numbers that are not finite become null.
std::string RenderJson(const Report& report);

// As docs/diff.schema.json has it. Valid UTF-8, whatever the traces hold.
std::string RenderDiffJson(const DiffReport& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_JSON_H_
