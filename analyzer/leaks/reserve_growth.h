// SPDX-License-Identifier: Apache-2.0
//
// Detects growing fragmentation: an allocator reserves more and more memory beyond what its live blocks need. No single
// site may show it, because each segment may be requested from a different place.
#ifndef ANALYZER_LEAKS_RESERVE_GROWTH_H_
#define ANALYZER_LEAKS_RESERVE_GROWTH_H_

#include <optional>

#include "analyzer/leaks/growth.h"

namespace vramtrack {

struct ReserveGrowth {
  FittedGrowth unused;  // growth of the bytes reserved beyond the most that was live so far
  Step first = 0;       // the first step that was judged
  size_t rises = 0;     // how often it rose since
};

// Judges the unused reserved bytes: the lowest number of reserved bytes at each point, minus the most bytes that were
// live at one time until then. Any allocator that never releases memory must reserve the latter. `reserved` and `live`
// are of one device, equally long, and with the same steps per point.
//
// Returns none unless the unused bytes grow like a leak, make up most of the growth of the reserved bytes, and the live
// bytes do not grow with them. Whether they grow like a leak is decided as for lines of code (posterior.h).
std::optional<ReserveGrowth> JudgeReserve(const LevelSeries& reserved, const LevelSeries& live, Step warmup_end);

// Returns whether the live bytes grow so little compared with the reserved bytes, or not at all, that they cannot be
// the reason.
bool IsFlatBeside(const std::optional<Growth>& live, const std::optional<Growth>& reserved);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_RESERVE_GROWTH_H_
