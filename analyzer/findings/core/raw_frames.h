// SPDX-License-Identifier: Apache-2.0
//
// Findings are made with useful frames, whether or not the report shows all frames: ids, lines and counts are the same
// with --raw-stacks.
#ifndef ANALYZER_FINDINGS_CORE_RAW_FRAMES_H_
#define ANALYZER_FINDINGS_CORE_RAW_FRAMES_H_

#include <cstdint>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Returns the index in `raw` of each frame of `useful`. `raw` has the same frames and more between them. Both are
// innermost first.
std::vector<uint64_t> IndicesInRaw(const std::vector<ReportFrame>& useful, const std::vector<ReportFrame>& raw);

// Replaces a site's frames by its `raw_frames`, if it has any. Call it after the site has its id.
void ShowRawFrames(ReportSite* site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_RAW_FRAMES_H_
