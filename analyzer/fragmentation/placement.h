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

// Where each of them lies so that none that live at the same time overlap, and how much memory is enough for that.
struct Placement {
  uint64_t bytes = 0;
  std::vector<uint64_t> offsets;  // one for each lifetime; what takes no bytes or no time lies at 0
};

// The best of four greedy placements, if all lifetimes are known beforehand. At least what is live at the same time,
// and seldom much more. Time: quadratic in the number of lifetimes.
Placement BestPlacement(const std::vector<Lifetime>& lifetimes);

}  // namespace vramtrack

#endif  // ANALYZER_FRAGMENTATION_PLACEMENT_H_
