// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/testing/steps.h"

#include <algorithm>

namespace vramtrack {

uint32_t Steps::StepOf(uint64_t time) const {
  return static_cast<uint32_t>(std::upper_bound(boundaries.begin(), boundaries.end(), time) - boundaries.begin());
}

}  // namespace vramtrack
