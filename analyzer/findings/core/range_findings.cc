// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/range_findings.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/model/frame_text.h"

namespace vramtrack {

std::string RangeFindings::PlaceOf(const std::vector<StackIndex>& stacks) const {
  std::string place;
  for (const StackIndex stack : stacks) {
    const std::vector<ReportFrame>& frames = analysis_.shown().Frames(stack);
    const std::optional<size_t> own = OwnFrame(frames);
    if (!own) return "";
    const std::string here = absl::StrCat(FrameLocation(frames[*own]), FunctionBehindLocation(frames[*own]));
    if (!place.empty() && here != place) return "";
    place = here;
  }
  return place;
}

void RangeFindings::Describe(const Replay& /*replay*/, ProcessFindings* findings) {
  // Below this, the site is not of one range.
  constexpr double kLeastShare = 0.5;
  for (size_t i = 0; i < findings->sites.size(); ++i) {
    const std::vector<SiteIndex>& sites = analysis_.groups()[i].sites;
    const std::optional<MemoryNames::Name> name = names_.Of(sites);
    if (name && name->share >= kLeastShare) findings->sites[i].memory_name = {name->text, name->share};
    const std::optional<NvtxRanges::Range> range = ranges_.Of(sites);
    if (!range || range->share < kLeastShare) continue;
    findings->sites[i].nvtx_range = {range->path, range->share, PlaceOf(range->opened)};
  }
}

}  // namespace vramtrack
