// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/verdict.h"

namespace vramtrack {

const char* ToString(Verdict verdict) {
  switch (verdict) {
    case Verdict::kLeak:
      return "leak";
    case Verdict::kAcceleratingLeak:
      return "accelerating_leak";
    case Verdict::kGrowingBuffer:
      return "growing_buffer";
    case Verdict::kMinorLeak:
      return "minor_leak";
    case Verdict::kSublinear:
      return "sublinear";
    case Verdict::kPhaseAccumulation:
      return "phase_accumulation";
    case Verdict::kCycleGarbage:
      return "cycle_garbage";
    case Verdict::kOneTime:
      return "one_time";
    case Verdict::kFragmentationGrowth:
      return "fragmentation_growth";
    case Verdict::kSteady:
      return "steady";
    case Verdict::kInsufficientEvidence:
      break;
  }
  return "insufficient_evidence";
}

bool IsLeak(Verdict verdict) {
  return verdict == Verdict::kLeak || verdict == Verdict::kAcceleratingLeak || verdict == Verdict::kGrowingBuffer ||
         verdict == Verdict::kMinorLeak;
}

}  // namespace vramtrack
