// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/testing/judged.h"

#include <algorithm>

#include "analyzer/leaks/windows.h"

namespace vramtrack {

Judged JudgeHistory(const SiteHistory& history, Step steps, double keepers) {
  Judged judged;
  const Evidence evidence = EvidenceOfSurvivors(history, steps);
  judged.any = evidence.any();
  if (!judged.any) return judged;
  judged.posterior = JudgeEvidence(evidence, keepers);
  if (!judged.posterior.is_clean()) {
    const Posterior once = JudgeEvidence(OncePerStep(evidence), keepers);
    if (once.log_odds < judged.posterior.log_odds) judged.posterior = once;
  }
  judged.leak = judged.posterior.is_leak();
  judged.unsure = !judged.leak && !judged.posterior.is_clean();
  const Step first =
      std::min(std::max(judged.posterior.begin, std::min(WarmupEnd(steps), evidence.end / 2)), evidence.end);
  judged.rate = EstimateRate(evidence.left, {first, evidence.end},
                             judged.posterior.onset && first == judged.posterior.begin, evidence.longest);
  return judged;
}

}  // namespace vramtrack
