// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_TEXT_H_
#define ANALYZER_RENDER_TEXT_TEXT_H_

#include <cstddef>
#include <string>

#include "analyzer/base/display_text.h"
#include "analyzer/model/report.h"

namespace vramtrack {

// Renders the report for a terminal, the answer first; `top` limits every list.
std::string RenderText(const Report& report, const TextStyle& style, size_t top, bool every_frame = false);

// Renders the answer and little else: at most 25 lines on a terminal with 80 columns or more.
std::string RenderShortText(const Report& report, const TextStyle& style);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_TEXT_H_
