// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_DIFF_MARKDOWN_H_
#define ANALYZER_RENDER_TEXT_DIFF_MARKDOWN_H_

#include <cstddef>
#include <string>

#include "analyzer/model/diff_report.h"

namespace vramtrack {

// For a comment on a pull request: the answer, a table of the devices, a table of findings with at most `top` rows.
std::string RenderDiffMarkdown(const DiffReport& report, size_t top = 10);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_DIFF_MARKDOWN_H_
