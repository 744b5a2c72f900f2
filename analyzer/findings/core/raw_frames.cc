// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/raw_frames.h"

#include <algorithm>
#include <utility>

#include "analyzer/attribution/blame.h"

namespace vramtrack {

std::vector<uint64_t> IndicesInRaw(const std::vector<ReportFrame>& useful, const std::vector<ReportFrame>& raw) {
  std::vector<uint64_t> indices(useful.size());
  size_t after = raw.size();
  for (size_t i = useful.size(); i-- > 0;) {
    size_t at = after;
    while (at > 0 && !SamePlace(raw[at - 1], useful[i])) --at;
    // A frame that raw stacks do not have stays where the next one out is.
    if (at > 0) after = at - 1;
    indices[i] = raw.empty() ? 0 : std::min(after, raw.size() - 1);
  }
  return indices;
}

void ShowRawFrames(ReportSite* site) {
  if (site->raw_frames.empty()) return;
  const std::vector<uint64_t> indices = IndicesInRaw(site->frames, site->raw_frames);
  if (site->blame_frame < indices.size()) site->blame_frame = indices[site->blame_frame];
  if (site->own_frame && *site->own_frame < indices.size()) site->own_frame = indices[*site->own_frame];
  site->frames = std::exchange(site->raw_frames, {});
}

}  // namespace vramtrack
