// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_FRAGMENTATION_PLACEMENT_H_
#define ANALYZER_FRAGMENTATION_PLACEMENT_H_

#include <cstdint>
#include <vector>

namespace vramtrack {

// Bytes that are needed from `birth` until before `death`.
struct Lifetime {
  uint32_t birth = 0, death = 0;
  uint64_t bytes = 0;
};

// How much memory is enough for all of them if all lifetimes are known beforehand: the best of four greedy placements.
// At least what is live at the same time, and seldom much more. Time: quadratic in the number of lifetimes.
uint64_t BestPlacement(const std::vector<Lifetime>& lifetimes);

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_PLACEMENT_H_
