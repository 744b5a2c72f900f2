// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_JSON_DIFF_JSON_H_
#define ANALYZER_RENDER_JSON_DIFF_JSON_H_

#include <string>

#include "analyzer/model/diff_report.h"

namespace vramtrack {

// As docs/diff.schema.json has it. Valid UTF-8, whatever the traces hold.
std::string RenderDiffJson(const DiffReport& report);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_JSON_DIFF_JSON_H_
