// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/growth.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <vector>

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

using Random = std::mt19937_64;

double Uniform(Random* random, double below) { return below * std::uniform_real_distribution<>()(*random); }

// What one step adds for good, what it needs on top, and how much of that is there all the time.
struct StepOf {
  double leaves, needs, always = 0;
};

struct Job {
  LevelSeries levels;  // of all steps that fitted
  double limit = 0;
};

Job RunUntilFull(double limit, const std::function<StepOf(int)>& step_of) {
  Job job;
  job.limit = limit;
  double level = 50;
  for (int step = 0;; ++step) {
    const StepOf now = step_of(step);
    const double high = level + now.always + now.needs + now.leaves;
    if (high > limit) return job;
    job.levels.low.push_back(level + now.always);
    job.levels.high.push_back(high);
    level += now.leaves;
  }
}

struct Outcome {
  int runs = 0, refused = 0, covered = 0;
  std::vector<double> errors;

  double MedianError() {
    std::sort(errors.begin(), errors.end());
    return errors.empty() ? 1 : errors[errors.size() / 2];
  }
};

Outcome PredictAtHalfWay(const std::function<Job()>& make, int runs) {
  Outcome outcome;
  for (outcome.runs = 0; outcome.runs < runs; ++outcome.runs) {
    const Job job = make();
    const size_t half = job.levels.low.size() / 2, begin = std::max<size_t>(5, half / 10);
    LevelSeries seen;
    seen.low.assign(job.levels.low.begin(), job.levels.low.begin() + static_cast<std::ptrdiff_t>(half));
    seen.high.assign(job.levels.high.begin(), job.levels.high.begin() + static_cast<std::ptrdiff_t>(half));
    const std::optional<FittedGrowth> growth = FitGrowth(seen, begin);
    const std::optional<StepsToOom> left = growth ? PredictStepsToOom(*growth, seen, begin, job.limit) : std::nullopt;
    if (!left) {
      ++outcome.refused;
      continue;
    }
    const double truth = static_cast<double>(job.levels.low.size() - half);
    outcome.errors.push_back(std::fabs(left->steps - truth) / truth);
    outcome.covered += left->low <= truth && truth <= left->high;
  }
  return outcome;
}

TEST(TimeToOom, IsExactWhereEveryStepIsTheSame) {
  for (const double limit : {150.0, 300.5, 1000.0}) {
    Outcome outcome = PredictAtHalfWay([&] { return RunUntilFull(limit, [](int) { return StepOf{1, 20}; }); }, 1);
    EXPECT_EQ(outcome.covered, 1);
    EXPECT_LT(outcome.MedianError(), .01);
  }
}

TEST(TimeToOom, CountsALeakInEveryThirdStep) {
  Outcome outcome = PredictAtHalfWay(
      [&] { return RunUntilFull(500, [](int step) {
              return StepOf{step % 3 == 0 ? 3.0 : 0, 20};
            }); }, 1);
  EXPECT_EQ(outcome.covered, 1);
  EXPECT_LT(outcome.MedianError(), .03);
}

TEST(TimeToOom, StandsBatchesOfVaryingLength) {
  Random random(1);
  Outcome outcome = PredictAtHalfWay(
      [&] { return RunUntilFull(600, [&](int) {
              return StepOf{1, 10 + Uniform(&random, 20), Uniform(&random, 3)};
            }); },
      200);
  EXPECT_EQ(outcome.refused, 0);
  EXPECT_GE(outcome.covered, .95 * outcome.runs);
  EXPECT_LT(outcome.MedianError(), .03);
}

// It is the evaluation that fails, long before an ordinary step would.
TEST(TimeToOom, KnowsThatEvaluationsNeedMore) {
  Random random(2);
  Outcome outcome = PredictAtHalfWay(
      [&] {
        return RunUntilFull(700, [&](int step) {
          const bool evaluates = step % 10 == 9;
          return StepOf{1, 10 + Uniform(&random, 10), evaluates ? 100.0 : 0};
        });
      },
      100);
  EXPECT_EQ(outcome.refused, 0);
  EXPECT_GE(outcome.covered, .95 * outcome.runs);
  EXPECT_LT(outcome.MedianError(), .03);
}

// Chance has no memory: half way, the best guess is off by one over the square root of the leaks so far. The interval
// says so.
TEST(TimeToOom, IsHonestAboutLeaksByChance) {
  Random random(3);
  const auto by_chance = [&](double limit, unsigned one_in) {
    return PredictAtHalfWay(
        [&] {
          return RunUntilFull(limit, [&](int) { return StepOf{random() % one_in == 0 ? double(one_in) : 0, 20}; });
        },
        300);
  };
  Outcome often = by_chance(800, 2);
  EXPECT_EQ(often.refused, 0);
  EXPECT_GE(often.covered, .92 * often.runs);
  EXPECT_LT(often.MedianError(), .10);
  Outcome rare = by_chance(1000, 10);
  EXPECT_GE(rare.covered, .92 * (rare.runs - rare.refused));
}

// Segments, or an object each tenth step: the device is full when the next stair does not fit, wherever that is.
TEST(TimeToOom, CoversWhereTheNextStairDoesNotFit) {
  Outcome outcome;
  for (const int stair : {2, 5, 7, 12, 20, 30}) {
    for (int limit = 380; limit < 420; ++limit) {
      const Outcome one = PredictAtHalfWay(
          [&] {
            return RunUntilFull(limit, [&](int step) { return StepOf{step % stair == 0 ? double(stair) : 0, 0}; });
          },
          1);
      outcome.covered += one.covered;
      outcome.runs += one.runs;
      outcome.refused += one.refused;
    }
  }
  EXPECT_EQ(outcome.refused, 0);
  EXPECT_GE(outcome.covered, .95 * outcome.runs);
}

TEST(TimeToOom, OfAFullDeviceIsNow) {
  LevelSeries levels;
  for (int step = 0; step < 50; ++step) {
    levels.low.push_back(step);
    levels.high.push_back(step + 5);
  }
  const std::optional<FittedGrowth> growth = FitGrowth(levels, 5);
  ASSERT_TRUE(growth.has_value());
  EXPECT_EQ(PredictStepsToOom(*growth, levels, 5, 40)->steps, 0);
  EXPECT_EQ(PredictStepsToOom(*growth, levels, 5, 40)->low, 0);
  FittedGrowth none = *growth;
  none.ci_low = 0;
  EXPECT_FALSE(PredictStepsToOom(none, levels, 5, 100).has_value());
}

}  // namespace
}  // namespace vramtrack
