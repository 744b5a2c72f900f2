// SPDX-License-Identifier: Apache-2.0
//
// The classes that a site can fall into. docs/leak-verdicts.md says what each one means to the reader of a report.
#ifndef ANALYZER_LEAKS_VERDICT_H_
#define ANALYZER_LEAKS_VERDICT_H_

namespace vramtrack {

enum class Verdict {
  kLeak,                  // every so many steps leave objects behind, at a constant rate
  kAcceleratingLeak,      // and more and more of them
  kGrowingBuffer,         // each object is replaced by a larger one
  kMinorLeak,             // a leak that will not matter within the run's horizon
  kSublinear,             // grows, but ever slower or no more: a cache that fills, a running maximum
  kPhaseAccumulation,     // grows through a phase of the job and is freed at its end
  kCycleGarbage,          // grows until a collector runs
  kOneTime,               // allocated once and kept
  kFragmentationGrowth,   // an allocator takes more from the device while what it hands out does not grow
  kSteady,                // nothing stays
  kInsufficientEvidence,  // too few steps to tell
};

// The name in the report, e.g. "accelerating_leak".
const char* ToString(Verdict verdict);

// leak, accelerating_leak, growing_buffer and minor_leak.
bool IsLeak(Verdict verdict);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_VERDICT_H_
