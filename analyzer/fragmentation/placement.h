// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_PLACEMENT_H_
#define ANALYZER_FRAGMENTATION_PLACEMENT_H_

#include <cstdint>
#include <vector>

namespace vramtrack {

// Bytes that are needed from `birth` until just before `death`.
struct Lifetime {
  uint32_t birth = 0, death = 0;
  uint64_t bytes = 0;
};

// An offset for each lifetime, and the memory that is enough for them. Lifetimes that overlap in time do not overlap
// in memory.
struct Placement {
  uint64_t bytes = 0;
  std::vector<uint64_t> offsets;  // one for each lifetime; 0 for one without bytes or time
};

// Returns the best of four greedy placements, which know all lifetimes in advance. It needs at least the bytes that
// are live at the same time, and seldom much more. Time is quadratic in the number of lifetimes.
Placement BestPlacement(const std::vector<Lifetime>& lifetimes);

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_PLACEMENT_H_
