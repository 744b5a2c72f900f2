// SPDX-License-Identifier: Apache-2.0
//
// Divides a stream into steps at the occurrences of one site, and reports how certain the result is.
#ifndef ANALYZER_STEPS_TESTING_ANCHOR_STEPS_H_
#define ANALYZER_STEPS_TESTING_ANCHOR_STEPS_H_

#include <cstdint>
#include <vector>

#include "analyzer/steps/step_similarity.h"
#include "analyzer/steps/testing/steps.h"

namespace vramtrack {

// The second pass over a stream, after RegularGaps has found the anchor. It must get the same allocations as
// RegularGaps. Each occurrence of the anchor begins a step; everything before the first one (set-up) is step 0. Not
// thread-safe.
class AnchorSteps {
 public:
  explicit AnchorSteps(uint32_t anchor_site) : anchor_site_(anchor_site) {}

  void OnEvent(uint32_t site, uint64_t time);

  // Returns the steps. Their confidence is the share of steps that allocate alike.
  Steps Finish(StepSource source = StepSource::kPeriodicity) const;

  const StepSimilarity& similarity() const { return similarity_; }

 private:
  uint32_t anchor_site_;
  std::vector<uint64_t> boundaries_;
  StepSimilarity similarity_;
};

}  // namespace vramtrack

#endif  // ANALYZER_STEPS_TESTING_ANCHOR_STEPS_H_
