// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/windows.h"

#include <algorithm>

namespace vramtrack {
namespace {

constexpr Step kMinWarmup = 5;

Step TenthOf(Step steps) { return steps / 10 + (steps % 10 != 0 ? 1 : 0); }

}  // namespace

Step WarmupEnd(Step steps, Step structure_settled) { return std::max({kMinWarmup, TenthOf(steps), structure_settled}); }

Step CensorMargin(uint32_t max_completed_lifetime_steps) {
  const uint64_t lifetime = max_completed_lifetime_steps;
  const uint64_t margin = (5 * lifetime + 3) / 4 + 1;  // ceil(1.25 L) + 1
  return static_cast<Step>(std::min<uint64_t>(std::max<uint64_t>(2, margin), UINT32_MAX));
}

StepSpan TestedSpan(const RunShape& run, uint32_t max_completed_lifetime_steps) {
  const Step margin = CensorMargin(max_completed_lifetime_steps);
  const Step end = run.steps > margin ? run.steps - margin : 0;
  return {std::min(run.warmup_end, end), end};
}

Step FurtherStepsNeeded(const RunShape& run, uint32_t max_completed_lifetime_steps) {
  // Warm-up is a tenth of the run, so it grows with the steps that are added. A warm-up that is longer than that tenth
  // came from a change of structure and stays where it is.
  const uint64_t margin = CensorMargin(max_completed_lifetime_steps);
  const uint64_t fixed = std::max<uint64_t>(run.warmup_end, kMinWarmup) + margin + kMinTestedSteps;
  uint64_t needed = std::max<uint64_t>(fixed, run.steps);
  while (needed < UINT32_MAX && TenthOf(static_cast<Step>(needed)) + margin + kMinTestedSteps > needed) ++needed;
  return static_cast<Step>(std::min<uint64_t>(needed - run.steps, UINT32_MAX));
}

}  // namespace vramtrack
