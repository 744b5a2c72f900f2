// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/step_levels.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace vramtrack {
namespace {

std::vector<uint64_t> LowOf(const std::vector<uint64_t>& ends, Step width) {
  std::vector<uint64_t> low((ends.size() + width - 1) / width, UINT64_MAX);
  for (size_t i = 0; i < ends.size(); ++i) low[i / width] = std::min(low[i / width], ends[i]);
  return low;
}

std::vector<uint64_t> Bytes(const std::vector<SiteLevel>& levels) {
  std::vector<uint64_t> bytes;
  for (const SiteLevel& level : levels) bytes.push_back(level.bytes);
  return bytes;
}

// As a ledger does: only before changes, and at the end.
StepLevelsBuilder Build(const std::vector<uint64_t>& ends) {
  StepLevelsBuilder builder;
  for (Step step = 0; step < ends.size(); ++step) {
    if (step > 0 && ends[step] != ends[step - 1]) builder.OnLevel(step, {ends[step - 1], 1}, {});
  }
  if (!ends.empty()) builder.OnLevel(static_cast<Step>(ends.size()), {ends.back(), 1}, {});
  return builder;
}

TEST(StepLevels, AreThoseOfEachStepInAShortRun) {
  const std::vector<uint64_t> ends = {0, 0, 5, 5, 7, 0, 3, 3, 3};
  const StepLevels levels = Build(ends).Finish(9);
  EXPECT_EQ(levels.steps_per_bin, 1u);
  EXPECT_EQ(Bytes(levels.low), ends);
  EXPECT_EQ(Bytes(levels.sample), ends);
  EXPECT_EQ(levels.low[1].objects, 0u) << "no bytes, no objects";
  EXPECT_EQ(levels.low[2].objects, 1u);
}

TEST(StepLevels, WithinAStepAreLowerThanAtItsEnd) {
  StepLevelsBuilder builder;
  builder.OnLevel(1, {5, 1}, {}, {0, 0});
  builder.OnLevel(2, {9, 2}, {}, {4, 1});
  builder.OnLevel(5, {7, 1}, {}, {2, 1});
  const StepLevels levels = builder.Finish(5);
  EXPECT_EQ(Bytes(levels.low), (std::vector<uint64_t>{5, 9, 7, 7, 7}));
  EXPECT_EQ(Bytes(levels.least), (std::vector<uint64_t>{0, 4, 2, 7, 7}));
}

TEST(StepLevels, OfASiteThatNeverHeldAnythingAreZeroAndTakeNoMemory) {
  StepLevelsBuilder builder;
  for (Step step = 1; step < 1000; ++step) builder.OnLevel(step, {0, 0}, {});
  EXPECT_EQ(builder.changes(), 0u);
  const StepLevels levels = builder.Finish(999);
  EXPECT_EQ(levels.low.size(), (999 + levels.steps_per_bin - 1) / levels.steps_per_bin);
  for (const SiteLevel& level : levels.low) EXPECT_EQ(level, SiteLevel());
}

TEST(StepLevels, OfRunsOfAnyLengthAreThoseOfABruteForce) {
  std::mt19937 random(7);
  const auto below = [&](uint32_t n) { return random() % n; };
  for (int trial = 0; trial < 300; ++trial) {
    const Step steps = 1 + below(trial % 3 == 0 ? 20000 : 1500);
    const uint32_t every = 1 + below(1 + below(200));
    const Step first = below(3) == 0 ? below(steps) : 0;
    std::vector<uint64_t> ends(steps, 0);
    uint64_t level = 0;
    for (Step step = first; step < steps; ++step) {
      if (below(every) == 0) level = below(4) == 0 ? 0 : below(1000);
      ends[step] = level;
    }
    const StepLevelsBuilder builder = Build(ends);
    const StepLevels levels = builder.Finish(steps);
    ASSERT_LE(levels.low.size(), StepLevelsBuilder::kMaxBins);
    ASSERT_LE(builder.changes(), StepLevelsBuilder::kMaxBins + 1);
    ASSERT_TRUE(steps <= StepLevelsBuilder::kMaxBins ? levels.steps_per_bin == 1
                                                     : 2 * levels.low.size() >= StepLevelsBuilder::kMaxBins);
    EXPECT_EQ(Bytes(levels.low), LowOf(ends, levels.steps_per_bin)) << trial << " " << steps;

    // Samples are of the same steps whatever the site did: of two sites they add up to those of the sum.
    std::vector<uint64_t> others(steps), sums(steps);
    for (Step step = 0; step < steps; ++step) {
      others[step] = step >= steps / 3 ? 1 + below(3) : 0;
      sums[step] = ends[step] + others[step];
    }
    StepLevels sum = levels;
    AddLevels(Build(others).Finish(steps), &sum);
    const StepLevels expected = Build(sums).Finish(steps);
    EXPECT_EQ(Bytes(sum.sample), Bytes(expected.sample)) << trial << " " << steps;
    for (size_t bin = 0; bin + 1 < levels.sample.size(); ++bin) {
      const Step begin = static_cast<Step>(bin) * levels.steps_per_bin;
      const auto from = ends.begin() + begin, to = from + levels.steps_per_bin;
      EXPECT_NE(std::find(from, to, levels.sample[bin].bytes), to) << trial << " bin " << bin;
    }
  }
}

}  // namespace
}  // namespace vramtrack
