// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/reserve_growth.h"

#include <algorithm>
#include <cmath>

#include "analyzer/leaks/posterior.h"
#include "analyzer/leaks/survivors.h"

namespace vramtrack {
namespace {

// What is unused must make up this much of the growth of what is reserved.
constexpr double kUnusedShare = 0.75;
// What is live may grow by this share of it: batches that happen to be a little longer, a list of losses.
constexpr double kFlatShare = 0.1;
}  // namespace

bool IsFlatBeside(const std::optional<Growth>& live, const std::optional<Growth>& reserved) {
  return !live || (reserved && live->bytes_per_step < kFlatShare * reserved->bytes_per_step);
}

std::optional<ReserveGrowth> JudgeReserve(const LevelSeries& reserved, const LevelSeries& live, Step warmup_end) {
  const auto points = static_cast<Step>(std::min(reserved.low.size(), live.high.size()));
  LevelSeries unused;
  unused.steps_per_point = reserved.steps_per_point;
  double needed = 0;
  for (Step i = 0; i < points; ++i) {
    needed = std::max(needed, live.high[i]);
    unused.low.push_back(std::max(0.0, reserved.low[i] - needed));
  }
  unused.high = unused.low;
  // A step that needs more than all before it makes a dip: the allocator takes more in the course of it.
  std::vector<uint64_t> levels;
  for (const double level : WithoutSpikes(unused.low)) levels.push_back(static_cast<uint64_t>(level));
  const Evidence evidence = EvidenceOfGrowth(levels, static_cast<Step>(std::lround(reserved.steps_per_point)));
  if (!evidence.any()) return std::nullopt;
  const Posterior posterior = JudgeEvidence(evidence);
  if (!posterior.is_leak()) return std::nullopt;
  const auto first = static_cast<Step>(std::ceil(warmup_end / reserved.steps_per_point));
  const StepSpan span{std::max(first, posterior.begin), points};

  const std::optional<FittedGrowth> of_unused = FitGrowth(unused, span.begin);
  const std::optional<FittedGrowth> of_reserved = FitGrowth(reserved, span.begin);
  const std::optional<FittedGrowth> of_live = FitGrowth(live, span.begin);
  if (!of_unused || !of_reserved || !of_live || of_unused->ci_low <= 0) return std::nullopt;
  if (of_unused->bytes_per_step < kUnusedShare * of_reserved->bytes_per_step) return std::nullopt;
  if (!IsFlatBeside(*of_live, *of_reserved)) return std::nullopt;
  return ReserveGrowth{*of_unused, static_cast<Step>(span.begin * reserved.steps_per_point),
                       Within(evidence.left, span).size()};
}

}  // namespace vramtrack
