// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_DIFF_ASSIGNMENT_H_
#define ANALYZER_DIFF_ASSIGNMENT_H_

#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace vramtrack {

// Pairs up 0..base-1 and 0..next-1 one to one, the cheapest pairs first, and never at a cost above `most`. At equal
// cost, pairs at similar positions in their lists come first. In very long lists, only elements at the same position
// are paired.
std::vector<std::pair<size_t, size_t>> PairCheapest(size_t base, size_t next, double most,
                                                    const std::function<double(size_t, size_t)>& cost);

}  // namespace vramtrack

#endif  // ANALYZER_DIFF_ASSIGNMENT_H_
