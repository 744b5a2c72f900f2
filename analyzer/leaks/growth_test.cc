// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/growth.h"

#include <gtest/gtest.h>

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

TEST(StepsToOom, AreWhatIsLeftOverTheGrowth) {
  const Growth growth{4.0 * kMiB, 2.0 * kMiB, 8.0 * kMiB};
  const std::optional<StepsToOom> oom = EstimateStepsToOom(growth, 600 * kMiB, 1000 * kMiB);
  ASSERT_TRUE(oom.has_value());
  EXPECT_DOUBLE_EQ(oom->steps, 100);
  EXPECT_DOUBLE_EQ(oom->low, 50);
  EXPECT_DOUBLE_EQ(oom->high, 200);
  EXPECT_EQ(EstimateStepsToOom(growth, 1001 * kMiB, 1000 * kMiB)->steps, 0);
  EXPECT_FALSE(EstimateStepsToOom(growth, 600 * kMiB, 0).has_value()) << "the device's size is unknown";
}

}  // namespace
}  // namespace vramtrack
