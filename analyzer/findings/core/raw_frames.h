// SPDX-License-Identifier: Apache-2.0
//
// What is found is found in useful frames, whether or not the report shows all of them: ids, lines and counts are the
// same with --raw-stacks.
#ifndef ANALYZER_FINDINGS_CORE_RAW_FRAMES_H_
#define ANALYZER_FINDINGS_CORE_RAW_FRAMES_H_

#include <cstdint>
#include <vector>

#include "analyzer/model/report.h"

namespace vramtrack {

// Of each of `useful` its index in `raw`, which has the same frames and more between them. Innermost first.
std::vector<uint64_t> IndicesInRaw(const std::vector<ReportFrame>& useful, const std::vector<ReportFrame>& raw);

// Replaces a site's frames by `raw_frames`, where it has them. Call once its id is known.
void ShowRawFrames(ReportSite* site);

}  // namespace vramtrack

#endif  // ANALYZER_FINDINGS_CORE_RAW_FRAMES_H_
