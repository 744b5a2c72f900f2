// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analyzer/leaks/bursts.h"
#include "analyzer/leaks/rate.h"
#include "analyzer/leaks/statistics.h"
#include "analyzer/leaks/windows.h"

namespace vramtrack {
namespace {

SurvivorSeries EveryStep(StepSpan span, Step every, Step first, uint64_t bytes) {
  SurvivorSeries series;
  for (Step step = first; step < span.end; step += every) {
    if (step >= span.begin) series.push_back({step, 1, bytes});
  }
  return series;
}

TEST(Windows, WarmupIsATenthAndFiveStepsAtLeast) {
  EXPECT_EQ(WarmupEnd(30), 5u);
  EXPECT_EQ(WarmupEnd(61), 7u);
  EXPECT_EQ(WarmupEnd(1000), 100u);
  EXPECT_EQ(WarmupEnd(100, /*structure_settled=*/17), 17u);
}

TEST(Period, FindsEveryNthStep) {
  const StepSpan span{6, 58};
  EXPECT_EQ(FindPeriod(EveryStep(span, 1, 0, 8), span).steps, 1u);
  EXPECT_EQ(FindPeriod(EveryStep(span, 7, 3, 8), span).steps, 7u);
  EXPECT_TRUE(FindPeriod(EveryStep(span, 7, 3, 8), span).bytes_repeat);
}

TEST(Period, FindsAPatternOfSeveralStepsAndBytes) {
  const StepSpan span{0, 60};
  SurvivorSeries series;
  for (Step step = 0; step < 60; ++step) {
    if (step % 5 < 2) series.push_back({step, 1, step % 10 == 0 ? 16u : 8u});
  }
  const Period period = FindPeriod(series, span);
  EXPECT_EQ(period.steps, 10u) << "objects repeat every 5 steps, bytes every 10";
  EXPECT_TRUE(period.bytes_repeat);
}

TEST(Period, AMissingOrChangedRepetitionIsNoPeriod) {
  const StepSpan span{0, 60};
  SurvivorSeries series = EveryStep(span, 3, 0, 8);
  series.erase(series.begin() + 9);
  EXPECT_EQ(FindPeriod(series, span).steps, 0u);
  series = EveryStep({0, 40}, 3, 0, 8);
  EXPECT_EQ(FindPeriod(series, span).steps, 0u) << "it stopped";
  series = EveryStep(span, 1, 0, 8);
  series[20].bytes = 9;
  EXPECT_EQ(FindPeriod(series, span).steps, 1u);
  EXPECT_FALSE(FindPeriod(series, span).bytes_repeat);
}

TEST(Bootstrap, ConstantValuesHaveAnIntervalOfWidthZero) {
  const Interval interval = BootstrapMean(std::vector<double>(50, 4194304), 3);
  EXPECT_EQ(interval.low, 4194304);
  EXPECT_EQ(interval.high, 4194304);
}

TEST(Bootstrap, IsTheSameEveryTime) {
  std::vector<double> values;
  for (int i = 0; i < 90; ++i) values.push_back(i * 7919 % 97);
  const Interval a = BootstrapMean(values, 4), b = BootstrapMean(values, 4);
  EXPECT_EQ(a.low, b.low);
  EXPECT_EQ(a.high, b.high);
}

TEST(Bootstrap, CoversTheTrueMeanAboutAsOftenAsItSays) {
  std::mt19937_64 random(1);
  int covered = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> values;
    for (int i = 0; i < 170; ++i) values.push_back(std::uniform_real_distribution<double>(0.5, 2)(random));
    const Interval interval = BootstrapMean(values, 6);
    covered += interval.low <= 1.25 && 1.25 <= interval.high;
  }
  EXPECT_GE(covered, 0.92 * kTrials);
  EXPECT_LE(covered, 0.985 * kTrials);
}

TEST(Rate, EveryNthStepIsExactWhateverTheSpan) {
  for (Step every : {1u, 2u, 3u, 7u, 10u, 16u}) {
    for (Step end : {58u, 59u, 97u, 98u}) {
      const StepSpan span{6, end};
      const Rate rate = EstimateRate(EveryStep(span, every, 1, 4096), span, false, 0);
      EXPECT_DOUBLE_EQ(rate.bytes_per_step, 4096.0 / every) << every << " " << end;
      EXPECT_DOUBLE_EQ(rate.objects_per_step, 1.0 / every);
      EXPECT_DOUBLE_EQ(rate.bytes_interval.low, rate.bytes_per_step);
      EXPECT_DOUBLE_EQ(rate.bytes_interval.high, rate.bytes_per_step);
    }
  }
}

TEST(Rate, ARareLeakIsNotOverstatedByTheStepThatRevealedIt) {
  std::mt19937_64 random(7);
  double sum = 0;
  constexpr int kTrials = 2000;
  for (int trial = 0; trial < kTrials; ++trial) {
    SurvivorSeries series;
    for (Step step = 0; step < 200; ++step) {
      if (std::uniform_real_distribution<double>(0, 1)(random) < .1) series.push_back({step, 1, 1000});
    }
    sum += EstimateRate(series, {series.front().step, 200}, true, 0).bytes_per_step;
  }
  EXPECT_NEAR(sum / kTrials, 100, 1.5);
}

TEST(MultipleTesting, BenjaminiAndHochbergsOwnExample) {
  // The 15 p-values of their paper of 1995 (thrombolysis in myocardial infarction): four are rejected at 0.05.
  const std::vector<double> p = {0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344,
                                 0.0459, 0.3240, 0.4262, 0.5719, 0.6528, 0.7590, 1.0000};
  const std::vector<bool> rejected = BenjaminiHochberg(p, 0.05);
  for (size_t i = 0; i < p.size(); ++i) EXPECT_EQ(rejected[i], i < 4) << i;
  EXPECT_TRUE(BenjaminiHochberg({}, 0.05).empty());
}

TEST(Bursts, ACollectorIsToldFromThePhasesOfAProgram) {
  const auto history_of = [](const std::vector<Step>& bursts, Step steps) {
    SiteHistoryBuilder builder;
    Step oldest = 0;
    size_t next = 0;
    for (Step step = 0; step < steps; ++step) {
      builder.OnBirth(step, 8);
      if (next < bursts.size() && bursts[next] == step) {
        for (; oldest < step; ++oldest) builder.OnDeath(oldest, step, 8);
        ++next;
      }
    }
    return builder.Finish(steps);
  };
  const Bursts collector = FindBursts(history_of({21, 42, 64, 85}, 100));
  EXPECT_EQ(collector.pattern, DeathPattern::kCollector);
  EXPECT_EQ(collector.count, 4u);
  EXPECT_NEAR(collector.mean_gap_steps, 21.33, .01);
  EXPECT_EQ(FindBursts(history_of({20, 40, 60, 80}, 100)).pattern, DeathPattern::kPhases);
  EXPECT_EQ(FindBursts(history_of({}, 100)).pattern, DeathPattern::kNone);
}

}  // namespace
}  // namespace vramtrack
