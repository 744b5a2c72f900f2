// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/lost_frees.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace vramtrack {
namespace {

// Losses come in blocks, so that they vary by more than their square root; three of those are still a bound that a site
// with a leak worth the name is beyond.
constexpr double kDeviations = 3;

}  // namespace

void DoubtWhatLossesExplain(const SiteHistory& history, double lost_share, LeakVerdict* verdict) {
  if (lost_share <= 0 || !IsLeak(verdict->verdict)) return;
  // Objects whose free was lost add to their number; that is no growth by replacement.
  if (verdict->evidence.buffer.trend != BufferTrend::kNone) return;
  const double share = std::min(lost_share, 0.999);
  const double lost_frees = static_cast<double>(history.died_objects) * share / (1 - share);
  const double survivors = static_cast<double>(verdict->evidence.survivors.objects);
  if (lost_frees <= 0 || survivors > lost_frees + kDeviations * std::sqrt(lost_frees)) return;
  verdict->verdict = Verdict::kInsufficientEvidence;
  verdict->onset_step.reset();
  verdict->further_steps_needed = 0;
  verdict->explanation = std::to_string(verdict->evidence.survivors.objects) +
                         " objects seem to have stayed, but in what the trace has lost about " +
                         std::to_string(std::llround(lost_frees)) + " more of this site were freed";
  verdict->doubt = verdict->explanation;
}

}  // namespace vramtrack
