// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/reserve_growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>

namespace vramtrack {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kSegment = 20 * kMiB;
constexpr Step kSteps = 200, kWarmup = 20;

struct Levels {
  LevelSeries reserved, live;
};

// `level(step)`: what is reserved, the lowest and the most that is live in that step.
struct Level {
  double reserved = 0, low = 0, high = 0;
};
std::optional<ReserveGrowth> Judged(const std::function<Level(Step)>& level, Step steps = kSteps) {
  Levels levels;
  double reserved = 0;
  for (Step i = 0; i < steps; ++i) {
    const Level at = level(i);
    levels.reserved.low.push_back(reserved);
    reserved = at.reserved;
    levels.reserved.high.push_back(std::max(levels.reserved.low.back(), reserved));
    levels.live.low.push_back(at.low);
    levels.live.high.push_back(at.high);
  }
  return JudgeReserve(levels.reserved, levels.live, kWarmup);
}

TEST(ReserveGrowth, SegmentsThatNobodyNeedsAreFoundWithTheirRate) {
  const auto growth = Judged([](Step i) {
    return Level{1000 * kMiB + std::floor(i / 3.0) * kSegment, 400 * kMiB, 900 * kMiB};
  });
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->unused.bytes_per_step, kSegment / 3, .01 * kSegment);
  EXPECT_GE(growth->stairs, 55u);
}

TEST(ReserveGrowth, ItBeginsWhereTheFirstOfThemIsTaken) {
  const auto growth = Judged([](Step i) {
    return Level{1000 * kMiB + (i < 100 ? 0 : i - 100.0) * kSegment, 400 * kMiB, 900 * kMiB};
  });
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->first, 100, 3);
  EXPECT_NEAR(growth->unused.bytes_per_step, kSegment, .02 * kSegment);
}

TEST(ReserveGrowth, ALeakIsNone) {
  EXPECT_FALSE(Judged([](Step i) {
    const double live = 400 * kMiB + i * 6 * kMiB;
    return Level{std::ceil((live + 500 * kMiB) / kSegment) * kSegment, live, live + 500 * kMiB};
  }));
  // Nor one of which each block keeps a segment of its own: live grows as well.
  EXPECT_FALSE(Judged([](Step i) {
    return Level{1000 * kMiB + i * kSegment, 400 * kMiB + i * 3 * kMiB, 900 * kMiB + i * 3 * kMiB};
  }));
}

TEST(ReserveGrowth, LongerAndLongerBatchesAreNone) {
  EXPECT_FALSE(Judged([](Step i) {
    const double high = 900 * kMiB + i * 10 * kMiB;
    return Level{1.3 * high, 400 * kMiB, high};
  }));
}

TEST(ReserveGrowth, ACacheThatFillsIsNone) {
  // Segments for sizes that were not asked for before: ever fewer.
  EXPECT_FALSE(Judged([](Step i) {
    return Level{1000 * kMiB + std::floor(40 * (1 - std::exp(-i / 50.0))) * kSegment, 400 * kMiB, 900 * kMiB};
  }));
  EXPECT_FALSE(Judged([](Step i) {
    return Level{1000 * kMiB + std::floor(6 * std::log(i + 1.0)) * kSegment, 400 * kMiB, 900 * kMiB};
  }));
}

TEST(ReserveGrowth, APhaseThatBeginsIsNone) {
  EXPECT_FALSE(Judged([](Step i) { return Level{(i < 100 ? 1000 : 3000) * kMiB, 400 * kMiB, 900 * kMiB}; }));
  // An evaluation now and then, the first of which takes segments of its own.
  EXPECT_FALSE(Judged([](Step i) {
    return Level{(i < 50 ? 1000 : i < 150 ? 1500 : 1600) * kMiB, 400 * kMiB, (i % 50 == 0 ? 950 : 900) * kMiB};
  }));
}

TEST(ReserveGrowth, WhatIsGivenBackAndTakenAgainIsNone) {
  std::mt19937_64 random(7);
  EXPECT_FALSE(Judged([&random](Step) {
    return Level{1000 * kMiB + static_cast<double>(random() % 20) * kSegment, 400 * kMiB,
                 800 * kMiB + static_cast<double>(random() % 100) * kMiB};
  }));
}

TEST(ReserveGrowth, AFewStepsAreTooFew) {
  EXPECT_FALSE(Judged([](Step i) { return Level{1000 * kMiB + i * kSegment, 400 * kMiB, 900 * kMiB}; }, 30));
  EXPECT_TRUE(Judged([](Step i) { return Level{1000 * kMiB + i * kSegment, 400 * kMiB, 900 * kMiB}; }, 50));
}

TEST(ReserveGrowth, LevelsOfSeveralStepsGiveTheRatePerStep) {
  LevelSeries reserved, live;
  reserved.steps_per_point = live.steps_per_point = 4;
  for (int i = 0; i < 100; ++i) {
    reserved.low.push_back(1000 * kMiB + i * 8 * kMiB);
    reserved.high.push_back(reserved.low.back() + 8 * kMiB);
    live.low.push_back(400 * kMiB);
    live.high.push_back(900 * kMiB);
  }
  const auto growth = JudgeReserve(reserved, live, 40);
  ASSERT_TRUE(growth);
  EXPECT_DOUBLE_EQ(growth->unused.bytes_per_step, 2 * kMiB);
  EXPECT_EQ(growth->first, 40u);
}

TEST(ReserveGrowth, GrowthBesideWhichLiveIsFlat) {
  const Growth slow{1e3, 900, 1100}, fast{1e6, 9e5, 1.1e6};
  EXPECT_TRUE(IsFlatBeside(std::nullopt, std::nullopt));
  EXPECT_TRUE(IsFlatBeside(std::nullopt, fast));
  EXPECT_TRUE(IsFlatBeside(slow, fast));
  EXPECT_FALSE(IsFlatBeside(fast, fast));
  EXPECT_FALSE(IsFlatBeside(slow, std::nullopt));
}

}  // namespace
}  // namespace vramtrack
