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

// `level(step)`: what is reserved, the lowest and the most that is live in that step.
struct Level {
  double reserved = 0, low = 0, high = 0;
};
using LevelAt = std::function<Level(Step)>;
std::optional<ReserveGrowth> Judged(const LevelAt& level, Step steps = kSteps) {
  LevelSeries reserved, live;
  double before = 0;
  for (Step i = 0; i < steps; ++i) {
    const Level at = level(i);
    reserved.low.push_back(before);
    before = at.reserved;
    reserved.high.push_back(std::max(reserved.low.back(), before));
    live.low.push_back(at.low);
    live.high.push_back(at.high);
  }
  return JudgeReserve(reserved, live, kWarmup);
}

// The same segments, in a job that needs no more than in its first step.
LevelAt WithFlatLive(const LevelAt& level) {
  return [level](Step i) { return Level{level(i).reserved, level(0).low, level(0).high}; };
}
// As many segments over the run, but one after the other at equal distances.
LevelAt WithEvenSegments(const LevelAt& level) {
  return [level](Step i) {
    const double first = level(0).reserved, last = level(kSteps - 1).reserved;
    return Level{first + std::floor((last - first) / kSegment * i / kSteps) * kSegment, level(i).low, level(i).high};
  };
}

TEST(ReserveGrowth, SegmentsThatNobodyNeedsAreFoundWithTheirRate) {
  const auto growth = Judged([](Step i) {
    return Level{1000 * kMiB + std::floor(i / 3.0) * kSegment, 400 * kMiB, 900 * kMiB};
  });
  ASSERT_TRUE(growth);
  EXPECT_NEAR(growth->unused.bytes_per_step, kSegment / 3, .01 * kSegment);
  EXPECT_GE(growth->rises, 55u);
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
  const LevelAt leak = [](Step i) {
    const double live = 400 * kMiB + i * 6 * kMiB;
    return Level{std::ceil((live + 500 * kMiB) / kSegment) * kSegment, live, live + 500 * kMiB};
  };
  EXPECT_FALSE(Judged(leak));
  EXPECT_TRUE(Judged(WithFlatLive(leak)));
  // Nor one of which each block keeps a segment of its own: live grows as well.
  const LevelAt own_segments = [](Step i) {
    return Level{1000 * kMiB + i * kSegment, 400 * kMiB + i * 3 * kMiB, 900 * kMiB + i * 3 * kMiB};
  };
  EXPECT_FALSE(Judged(own_segments));
  EXPECT_TRUE(Judged(WithFlatLive(own_segments)));
}

TEST(ReserveGrowth, LongerAndLongerBatchesAreNone) {
  const LevelAt longer = [](Step i) {
    const double high = 900 * kMiB + i * 10 * kMiB;
    return Level{1.3 * high, 400 * kMiB, high};
  };
  EXPECT_FALSE(Judged(longer));
  EXPECT_TRUE(Judged(WithFlatLive(longer)));
}

TEST(ReserveGrowth, ACacheThatFillsIsNone) {
  // Segments for sizes that were not asked for before: ever fewer.
  const LevelAt fills = [](Step i) {
    return Level{1000 * kMiB + std::floor(40 * (1 - std::exp(-i / 50.0))) * kSegment, 400 * kMiB, 900 * kMiB};
  };
  EXPECT_FALSE(Judged(fills));
  const LevelAt slows_down = [](Step i) {
    return Level{1000 * kMiB + std::floor(6 * std::log(i + 1.0)) * kSegment, 400 * kMiB, 900 * kMiB};
  };
  EXPECT_FALSE(Judged(slows_down));
  EXPECT_TRUE(Judged(WithEvenSegments(slows_down)));
}

TEST(ReserveGrowth, APhaseThatBeginsIsNone) {
  const LevelAt phase = [](Step i) { return Level{(i < 100 ? 1000 : 3000) * kMiB, 400 * kMiB, 900 * kMiB}; };
  EXPECT_FALSE(Judged(phase));
  EXPECT_TRUE(Judged(WithEvenSegments(phase)));
  // An evaluation now and then, the first of which takes segments of its own.
  const LevelAt evaluation = [](Step i) {
    return Level{(i < 50 ? 1000 : i < 150 ? 1500 : 1600) * kMiB, 400 * kMiB, (i % 50 == 0 ? 950 : 900) * kMiB};
  };
  EXPECT_FALSE(Judged(evaluation));
  EXPECT_TRUE(Judged(WithEvenSegments(evaluation)));
}

TEST(ReserveGrowth, WhatIsGivenBackAndTakenAgainIsNone) {
  const auto job = [](double kept_in_step) {
    std::mt19937_64 random(7);
    return [random, kept_in_step](Step i) mutable {
      const double taken = static_cast<double>(random() % 20) + i * kept_in_step;
      return Level{1000 * kMiB + taken * kSegment, 400 * kMiB, 800 * kMiB + static_cast<double>(random() % 100) * kMiB};
    };
  };
  EXPECT_FALSE(Judged(job(0)));
  EXPECT_TRUE(Judged(job(1)));
}

TEST(ReserveGrowth, AFewStepsAreTooFew) {
  EXPECT_FALSE(Judged([](Step i) { return Level{1000 * kMiB + i * kSegment, 400 * kMiB, 900 * kMiB}; }, 8));
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
