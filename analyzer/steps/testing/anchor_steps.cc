// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/testing/anchor_steps.h"

namespace vramtrack {

void AnchorSteps::OnEvent(uint32_t site, uint64_t time) {
  if (site == anchor_site_) {
    boundaries_.push_back(time);
    similarity_.OnStepEnd();
  }
  similarity_.OnEvent(site);
}

Steps AnchorSteps::Finish(StepSource source) const {
  Steps steps;
  if (boundaries_.empty()) return steps;
  steps.source = source;
  steps.boundaries = boundaries_;
  steps.confidence = ShareOfMatchingSteps(similarity_.similarities());
  return steps;
}

}  // namespace vramtrack
