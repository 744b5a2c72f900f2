// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_DIFF_TEXT_H_
#define ANALYZER_RENDER_TEXT_DIFF_TEXT_H_

#include <cstddef>
#include <string>

#include "analyzer/base/text_style.h"
#include "analyzer/model/diff_report.h"

namespace vramtrack {

// The answer in one sentence, then the devices and the sections; at most `top` findings of each.
std::string RenderDiffText(const DiffReport& report, const TextStyle& style, size_t top = 10);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_DIFF_TEXT_H_
