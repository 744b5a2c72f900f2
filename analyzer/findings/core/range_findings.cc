// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/range_findings.h"

#include <optional>

namespace vramtrack {

void RangeFindings::Describe(const Replays& /*replays*/, ProcessFindings* findings) {
  // Below this, the site is not of one range.
  constexpr double kLeastShare = 0.5;
  for (size_t i = 0; i < findings->sites.size(); ++i) {
    const std::optional<NvtxRanges::Range> range = ranges_.Of(analysis_.groups()[i].sites);
    if (range && range->share >= kLeastShare) findings->sites[i].nvtx_range = {range->path, range->share};
  }
}

}  // namespace vramtrack
