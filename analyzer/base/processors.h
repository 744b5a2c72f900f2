// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_PROCESSORS_H_
#define ANALYZER_BASE_PROCESSORS_H_

#include <algorithm>
#include <cstddef>
#include <thread>

namespace vramtrack {

// Returns how many processors to use, at least 1. `wanted`: 0 for all that the machine has.
inline size_t ProcessorsToUse(size_t wanted) {
  return wanted != 0 ? wanted : std::max(1u, std::thread::hardware_concurrency());
}

}  // namespace vramtrack

#endif  // ANALYZER_BASE_PROCESSORS_H_
