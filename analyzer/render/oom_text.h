// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_OOM_TEXT_H_
#define ANALYZER_RENDER_OOM_TEXT_H_

#include <cstddef>

#include "analyzer/render/page.h"
#include "analyzer/report.h"

namespace vramtrack {

// The last allocation that failed for want of memory: what was asked for and by whom, why it failed, and the `top`
// sites that held the memory. Nothing if none failed.
void WriteOutOfMemory(const Report& report, size_t frames, size_t top, Page* page);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_OOM_TEXT_H_
