// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_RENDER_TEXT_OOM_TEXT_H_
#define ANALYZER_RENDER_TEXT_OOM_TEXT_H_

#include <cstddef>
#include <string>

#include "analyzer/model/report.h"
#include "analyzer/render/text/page.h"

namespace vramtrack {

// The last allocation that failed for want of memory: what was asked for and by whom, why it failed, and the `top`
// sites that held the memory. Nothing if none failed.
void WriteOutOfMemory(const Report& report, size_t frames, size_t top, Page* page);

// "20.0 GiB requested, 3.00 GiB free on device 0 at step 12", and whether too little was free or only in pieces.
std::string RequestWords(const ReportOom& oom);
std::string CauseWords(const ReportOom& oom);

}  // namespace vramtrack

#endif  // ANALYZER_RENDER_TEXT_OOM_TEXT_H_
