// SPDX-License-Identifier: Apache-2.0
//
// Whether an allocator takes ever more from a device than what it hands out has need of: fragmentation that grows,
// whoever asks. No single site need show it, as each segment may be asked for from another place.
#ifndef ANALYZER_LEAKS_RESERVE_GROWTH_H_
#define ANALYZER_LEAKS_RESERVE_GROWTH_H_

#include <optional>

#include "analyzer/leaks/growth.h"

namespace vramtrack {

struct ReserveGrowth {
  FittedGrowth unused;  // per step: of what is reserved beyond the most that was live so far
  Step first = 0;       // the first step that was judged
  size_t stairs = 0;    // in how many of the judged points it rose to a new height
};

// `reserved`, `live`: of one device and equally long, with the same steps per point. What counts is the lowest that was
// reserved at each point, less the most that was live at a time until then: as much any allocator has to take that
// gives nothing back.
//
// None unless that grows as a leak does (from its onset on; in three quarters of the windows and one of the last two;
// not ever more slowly, as a cache that fills; by an interval above zero), makes up most of the growth of what is
// reserved, and what is live does not grow along.
std::optional<ReserveGrowth> JudgeReserve(const LevelSeries& reserved, const LevelSeries& live, Step warmup_end);

// What is live grows by so little beside what is reserved, if at all, that it cannot be the reason.
bool IsFlatBeside(const std::optional<Growth>& live, const std::optional<Growth>& reserved);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_RESERVE_GROWTH_H_
