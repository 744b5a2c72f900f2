// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/reserve_growth.h"

#include <algorithm>
#include <cmath>

#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/trend.h"

namespace vramtrack {
namespace {

// As a leak needs survivors.
constexpr size_t kMinStairs = 5;
constexpr double kOccupiedWindows = 0.75;
// What is unused must make up this much of the growth of what is reserved.
constexpr double kUnusedShare = 0.75;
// What is live may grow by this share of it: batches that happen to be a little longer, a list of losses.
constexpr double kFlatShare = 0.1;
// As for sites: what a job sets up says nothing about a cache.
constexpr Step kSetupPoints = 2;

// Each point that is higher than all before it, with by how much.
SurvivorSeries Stairs(const std::vector<double>& levels, Step begin) {
  SurvivorSeries stairs;
  double highest = 0;
  for (size_t i = 0; i < levels.size(); ++i) {
    if (levels[i] > highest && i >= begin) {
      stairs.push_back({static_cast<Step>(i), 1, static_cast<uint64_t>(levels[i] - highest)});
    }
    highest = std::max(highest, levels[i]);
  }
  return stairs;
}

bool IsSteady(const SurvivorSeries& stairs, const std::vector<SurvivorTotal>& windows) {
  if (stairs.size() < kMinStairs || windows.size() < 2) return false;
  const auto occupied = std::count_if(windows.begin(), windows.end(), [](const auto& w) { return w.objects > 0; });
  const bool to_the_end = windows.back().objects > 0 || windows[windows.size() - 2].objects > 0;
  return to_the_end &&
         static_cast<double>(occupied) >= std::ceil(kOccupiedWindows * static_cast<double>(windows.size()));
}

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
  const StepSpan tested{static_cast<Step>(std::ceil(warmup_end / reserved.steps_per_point)), points};
  if (tested.size() < kMinTestedSteps) return std::nullopt;
  // A step that needs more than all before it makes a dip: the allocator takes the rest in the course of it.
  const SurvivorSeries run = Stairs(WithoutSpikes(unused.low), kSetupPoints);
  const Onset onset = FindOnset(Within(run, tested), tested);
  const StepSpan span = onset.span;
  if (span.size() < kMinTestedSteps) return std::nullopt;
  const SurvivorSeries stairs = Within(run, span);
  const std::vector<SurvivorTotal> windows = WindowTotals(stairs, span, kWindows);
  if (!IsSteady(stairs, windows)) return std::nullopt;
  const StepSpan since_setup{kSetupPoints, points};
  const TrendEvidence trend =
      JudgeTrend(stairs, span, windows, onset.within_tested ? stairs : run, onset.within_tested ? span : since_setup);
  if (trend.trend == Trend::kDecelerating) return std::nullopt;

  const std::optional<FittedGrowth> of_unused = FitGrowth(unused, span.begin);
  const std::optional<FittedGrowth> of_reserved = FitGrowth(reserved, span.begin);
  const std::optional<FittedGrowth> of_live = FitGrowth(live, span.begin);
  if (!of_unused || !of_reserved || !of_live || of_unused->ci_low <= 0) return std::nullopt;
  if (of_unused->bytes_per_step < kUnusedShare * of_reserved->bytes_per_step) return std::nullopt;
  if (!IsFlatBeside(*of_live, *of_reserved)) return std::nullopt;
  return ReserveGrowth{*of_unused, static_cast<Step>(span.begin * reserved.steps_per_point), stairs.size()};
}

}  // namespace vramtrack
