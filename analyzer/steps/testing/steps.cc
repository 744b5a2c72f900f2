// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/testing/steps.h"

#include <algorithm>

namespace vramtrack {

const char* ToString(StepSource source) {
  switch (source) {
    case StepSource::kMarks:
      return "marks";
    case StepSource::kNvtx:
      return "nvtx";
    case StepSource::kOptimizer:
      return "optimizer";
    case StepSource::kPeriodicity:
      return "periodicity";
    case StepSource::kNone:
      break;
  }
  return "none";
}

uint32_t Steps::StepOf(uint64_t time) const {
  return static_cast<uint32_t>(std::upper_bound(boundaries.begin(), boundaries.end(), time) - boundaries.begin());
}

}  // namespace vramtrack
