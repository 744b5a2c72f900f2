// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_DIFF_TEXT_H_
#define ANALYZER_RENDER_DIFF_TEXT_H_

#include <cstddef>
#include <string>

#include "analyzer/diff_report.h"
#include "analyzer/render/text_style.h"

namespace vramtrack {

// The answer in one sentence, then the devices and the sections; at most `top` findings of each.
std::string RenderDiffText(const DiffReport& report, const TextStyle& style, size_t top = 10);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_DIFF_TEXT_H_
