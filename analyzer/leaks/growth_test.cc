// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(Growth, OfAConstantLeakIsExact) {
  std::vector<uint64_t> floors;
  for (uint64_t step = 0; step < 60; ++step) floors.push_back(100 * kMiB + step * 4 * kMiB);
  const std::optional<Growth> growth = EstimateGrowth(floors, 6);
  ASSERT_TRUE(growth.has_value());
  EXPECT_DOUBLE_EQ(growth->bytes_per_step, 4.0 * kMiB);
  EXPECT_DOUBLE_EQ(growth->ci_low, 4.0 * kMiB);
  EXPECT_DOUBLE_EQ(growth->ci_high, 4.0 * kMiB);
}

TEST(Growth, OfAConstantLeakIsExactInLongRuns) {
  std::vector<uint64_t> floors;
  for (uint64_t step = 0; step < 12345; ++step) floors.push_back(step * 512);
  const std::optional<Growth> growth = EstimateGrowth(floors, 1235);
  ASSERT_TRUE(growth.has_value());
  EXPECT_DOUBLE_EQ(growth->bytes_per_step, 512);
}

TEST(Growth, IsRefusedWhereThereIsNone) {
  std::vector<uint64_t> flat(100, 5 * kMiB), falling, warmup;
  std::mt19937_64 random(3);
  for (uint64_t step = 0; step < 100; ++step) {
    falling.push_back((1000 - step) * kMiB);
    warmup.push_back(step < 10 ? step * kMiB : 10 * kMiB);
  }
  EXPECT_FALSE(EstimateGrowth(flat, 10).has_value());
  EXPECT_FALSE(EstimateGrowth(falling, 10).has_value());
  EXPECT_FALSE(EstimateGrowth(warmup, 10).has_value());
  EXPECT_FALSE(EstimateGrowth({1, 2, 3}, 0).has_value()) << "too few steps";
  EXPECT_FALSE(EstimateGrowth({}, 10).has_value());
}

TEST(Growth, IsRefusedForNoiseAboutAsOftenAsItShould) {
  std::mt19937_64 random(3);
  int refused = 0;
  constexpr int kTrials = 200;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<uint64_t> noise;
    for (int step = 0; step < 60; ++step) noise.push_back(random() % (64 * kMiB));
    refused += !EstimateGrowth(noise, 6).has_value();
  }
  EXPECT_GE(refused, .95 * kTrials) << "a one-sided test at 2.5 %";
}

TEST(Growth, StandsEvaluationsAndNoise) {
  std::mt19937_64 random(5);
  std::vector<uint64_t> floors;
  for (uint64_t step = 0; step < 200; ++step) {
    const uint64_t evaluation = step % 20 == 0 ? 2048 * kMiB : 0;
    floors.push_back(1000 * kMiB + step * kMiB + random() % (4 * kMiB) + evaluation);
  }
  const std::optional<Growth> growth = EstimateGrowth(floors, 20);
  ASSERT_TRUE(growth.has_value());
  EXPECT_NEAR(growth->bytes_per_step, 1.0 * kMiB, .02 * kMiB);
  EXPECT_LE(growth->ci_low, 1.0 * kMiB);
  EXPECT_GE(growth->ci_high, 1.0 * kMiB);
  EXPECT_LT(growth->ci_high - growth->ci_low, .1 * kMiB);
}

TEST(FittedGrowth, OfNoiseAroundALineIsThatOfTheLine) {
  std::mt19937_64 random(7);
  LevelSeries series;
  for (int step = 0; step < 200; ++step) {
    series.low.push_back(static_cast<double>(step * kMiB + random() % (4 * kMiB)));
    series.high.push_back(series.low.back());
  }
  const std::optional<FittedGrowth> growth = FitGrowth(series, 20);
  ASSERT_TRUE(growth.has_value());
  EXPECT_NEAR(growth->bytes_per_step, 1.0 * kMiB, .02 * kMiB);
  EXPECT_LT(growth->ci_high - growth->ci_low, .1 * kMiB);
}

// What chance leaves behind adds up to a walk: a line's own interval would hold the truth in one run of three.
TEST(FittedGrowth, CoversTheTruthWhereChanceDecidesWhatAStepLeaves) {
  std::mt19937_64 random(11);
  int covered = 0, covered_as_line = 0;
  constexpr int kRuns = 300;
  for (int run = 0; run < kRuns; ++run) {
    LevelSeries series;
    std::vector<uint64_t> floors;
    uint64_t level = 100 * kMiB;
    for (int step = 0; step < 150; ++step) {
      series.low.push_back(static_cast<double>(level));
      series.high.push_back(static_cast<double>(level));
      floors.push_back(level);
      if (random() % 4 == 0) level += 4 * kMiB;
    }
    const std::optional<FittedGrowth> growth = FitGrowth(series, 15);
    ASSERT_TRUE(growth.has_value());
    covered += growth->ci_low <= kMiB && kMiB <= growth->ci_high;
    const std::optional<Growth> line = EstimateGrowth(floors, 15);
    covered_as_line += line && line->ci_low <= kMiB && kMiB <= line->ci_high;
  }
  EXPECT_GE(covered, .92 * kRuns);
  EXPECT_LT(covered_as_line, .6 * kRuns);
}

// A window of the last results fills and is full; stairs and a line go on.
TEST(FittedGrowth, HasStoppedWhenTheLastRiseIsLongAgo) {
  const auto of = [](double (*level)(int step)) {
    LevelSeries series;
    for (int step = 0; step < 200; ++step) series.low.push_back(level(step) * kMiB);
    series.high = series.low;
    const std::optional<FittedGrowth> growth = FitGrowth(series, 20);
    EXPECT_TRUE(growth.has_value() && growth->ci_low > 0);
    return growth && growth->stopped;
  };
  EXPECT_TRUE(of([](int step) { return std::min<double>(step, 150); }));
  EXPECT_TRUE(of([](int step) { return std::min<double>(step / 5, 32); }));
  EXPECT_FALSE(of([](int step) { return static_cast<double>(step); }));
  EXPECT_FALSE(of([](int step) { return std::floor(step / 36.0); }));
  EXPECT_FALSE(of([](int step) { return std::min<double>(step, 195); })) << "not for long yet";
}

TEST(FittedGrowth, OfWidePointsIsPerStepAndExact) {
  LevelSeries series;
  series.steps_per_point = 4;
  for (int point = 0; point < 100; ++point) {
    series.low.push_back(4.0 * point * kMiB);
    series.high.push_back(4.0 * point * kMiB + 3 * kMiB);
  }
  const std::optional<FittedGrowth> growth = FitGrowth(series, 5);
  ASSERT_TRUE(growth.has_value());
  EXPECT_DOUBLE_EQ(growth->bytes_per_step, kMiB);
  EXPECT_DOUBLE_EQ(growth->ci_low, kMiB);
  EXPECT_EQ(growth->wander_per_step, 0);
  series.low.resize(12);
  EXPECT_FALSE(FitGrowth(series, 5).has_value()) << "too few";
}

}  // namespace
}  // namespace vramtrack
