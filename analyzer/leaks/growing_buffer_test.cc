// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/growing_buffer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>
#include <random>

#include "analyzer/leaks/windows.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
using Levels = std::function<uint64_t(Step)>;

RunShape RunOf(Step steps) {
  RunShape run;
  run.steps = steps;
  run.warmup_end = WarmupEnd(steps);
  return run;
}

// One object, which each change of the level replaces.
StepLevels LevelsOf(Step steps, const Levels& level, uint64_t objects = 1) {
  StepLevelsBuilder builder;
  for (Step step = 0; step < steps; ++step) builder.OnLevel(step + 1, {level(step), objects}, {});
  return builder.Finish(steps);
}

SiteHistory HistoryOf(Step steps, const Levels& level) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < steps; ++step) {
    const uint64_t before = step == 0 ? 0 : level(step - 1);
    if (level(step) == before) continue;
    if (level(step) > 0) builder.OnBirth(step, level(step));
    if (before > 0) {
      Step born = step - 1;
      while (born > 0 && level(born - 1) == before) --born;
      builder.OnDeath(born, step, before);
    }
  }
  return builder.Finish(steps);
}

LeakVerdict Judge(Step steps, const Levels& level, SegmentRole segments = SegmentRole::kNone) {
  const RunShape run = RunOf(steps);
  const SiteContext context{segments};
  const SiteHistory history = HistoryOf(steps, level);
  LeakVerdict verdict = JudgeSite(history, run, context);
  EXPECT_FALSE(IsLeak(verdict.verdict)) << "the test of survivors sees nothing: " << verdict.explanation;
  JudgeGrowingBuffer(LevelsOf(steps, level), history, run, context, &verdict);
  return verdict;
}

TEST(GrowingBuffer, LargerInEveryStepHasItsExactRate) {
  for (const Step steps : {30u, 40u, 120u, 200u, 400u, 5000u}) {
    const LeakVerdict verdict = Judge(steps, [](Step step) { return (step + 1) * 256000ull; });
    EXPECT_EQ(verdict.verdict, Verdict::kGrowingBuffer) << steps << ": " << verdict.explanation;
    EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 256000) << steps;
    EXPECT_DOUBLE_EQ(verdict.rate_ci_low, 256000) << steps;
    EXPECT_DOUBLE_EQ(verdict.rate_ci_high, 256000) << steps;
    EXPECT_FALSE(verdict.onset_step.has_value()) << steps;
    EXPECT_LT(verdict.p_value, 1e-4) << steps;
  }
}

TEST(GrowingBuffer, SaysInOneSentenceWhatDecided) {
  EXPECT_EQ(Judge(120, [](Step step) { return (step + 1) * kMiB; }).explanation,
            "each object is replaced by a larger one: in 12 of 12 parts of the 106 steps up to step 117 the least "
            "live bytes rose, by 1.00 MiB per step on average, from 13.0 MiB to 118 MiB");
}

TEST(GrowingBuffer, EveryFewStepsIsFoundWithItsRate) {
  for (const Step every : {2u, 3u, 4u, 5u}) {
    const LeakVerdict verdict = Judge(200, [&](Step step) { return (step / every + 1) * kMiB; });
    EXPECT_EQ(verdict.verdict, Verdict::kGrowingBuffer) << every << ": " << verdict.explanation;
    EXPECT_NEAR(verdict.rate_bytes_per_step, 1.0 * kMiB / every, 0.005 * kMiB / every) << every;
  }
}

TEST(GrowingBuffer, OfAFewEqualStairsIsNeverFineAndSaysWhenItIsFound) {
  for (const Step every : {4u, 5u, 8u, 10u, 15u}) {
    const auto level = [&](Step step) { return (step / every + 1) * kMiB; };
    for (Step steps = 5 * every; steps < 20 * every; ++steps) {
      const LeakVerdict verdict = Judge(steps, level);
      if (verdict.verdict == Verdict::kGrowingBuffer) continue;
      ASSERT_EQ(verdict.verdict, Verdict::kInsufficientEvidence)
          << every << " " << steps << ": " << verdict.explanation;
      ASSERT_GT(verdict.further_steps_needed, 0u);
      const Step enough = steps + verdict.further_steps_needed;
      EXPECT_EQ(Judge(enough, level).verdict, Verdict::kGrowingBuffer) << every << " " << steps << " then " << enough;
    }
  }
}

TEST(GrowingBuffer, InABlockThatIsLargerThanAskedForIsNotFading) {
  // For some steps in the middle an allocator had a block left that all of them fit in.
  const auto level = [](Step step) { return (step < 17 ? step + 1 : std::max<Step>(31, step)) * kMiB; };
  const LeakVerdict verdict = Judge(40, level);
  EXPECT_TRUE(verdict.verdict == Verdict::kInsufficientEvidence || verdict.verdict == Verdict::kGrowingBuffer)
      << verdict.explanation;
}

TEST(GrowingBuffer, WithOnsetIsBelievedOnceItSpansHalfOfTheRun) {
  const auto from = [](Step first) {
    return [first](Step step) { return step < first ? kMiB : (step - first + 2) * kMiB; };
  };
  const LeakVerdict late = Judge(200, from(80));
  EXPECT_EQ(late.verdict, Verdict::kGrowingBuffer) << late.explanation;
  EXPECT_EQ(late.onset_step, 79u);
  EXPECT_DOUBLE_EQ(late.rate_bytes_per_step, 1.0 * kMiB);
  const LeakVerdict later = Judge(200, from(150));
  EXPECT_EQ(later.verdict, Verdict::kInsufficientEvidence) << later.explanation;
  const Step enough = 200 + later.further_steps_needed;
  EXPECT_EQ(Judge(enough, from(150)).verdict, Verdict::kGrowingBuffer);
  EXPECT_EQ(Judge(enough - 20, from(150)).verdict, Verdict::kInsufficientEvidence) << "and not long before";
}

TEST(GrowingBuffer, ThatIsDroppedAgainAndAgainIsASequence) {
  for (const Step tooth : {7u, 20u, 45u}) {
    for (Step steps = 120; steps < 320; ++steps) {
      const LeakVerdict verdict = Judge(steps, [&](Step step) { return (step % tooth + 1) * kMiB; });
      EXPECT_FALSE(IsLeak(verdict.verdict)) << tooth << " " << steps << ": " << verdict.explanation;
      EXPECT_TRUE(verdict.verdict != Verdict::kInsufficientEvidence || steps < 4 * tooth)
          << tooth << " " << steps << ": " << verdict.explanation;
    }
  }
}

TEST(GrowingBuffer, DroppedOnceMayBeDroppedAgain) {
  // One sequence of 50 steps, and another one that goes on.
  const auto level = [](Step step) { return (step < 50 ? step + 1 : step - 49) * kMiB; };
  const LeakVerdict verdict = Judge(120, level);
  EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence) << verdict.explanation;
  ASSERT_GT(verdict.further_steps_needed, 0u);
  EXPECT_EQ(Judge(120 + verdict.further_steps_needed, level).verdict, Verdict::kGrowingBuffer)
      << "three times as long as the first";
}

TEST(GrowingBuffer, AboveATeethsFloorThatRisesIsFound) {
  // Each sequence begins with what the ones before have left.
  const LeakVerdict verdict = Judge(300, [](Step step) { return (step / 10 + 1 + step % 10) * kMiB; });
  EXPECT_EQ(verdict.verdict, Verdict::kGrowingBuffer) << verdict.explanation;
  EXPECT_NEAR(verdict.rate_bytes_per_step, .1 * kMiB, .002 * kMiB);
}

TEST(GrowingBuffer, DoubledWhenFullIsFoundAndKnownToBeSuspiciousBefore) {
  for (const double factor : {1.5, 2.0}) {
    for (const Step first : {1u, 3u, 10u}) {
      for (const Step steps : {40u, 120u, 400u, 3000u}) {
        const LeakVerdict verdict = Judge(steps, [&](Step step) {
          double capacity = first;
          while (capacity < step + 1) capacity *= factor;
          return static_cast<uint64_t>(capacity * kMiB);
        });
        int rises = 1;
        for (double capacity = first; capacity < steps - 2; capacity *= factor) ++rises;
        if (rises >= 5) {
          EXPECT_EQ(verdict.verdict, Verdict::kGrowingBuffer)
              << factor << " " << first << " " << steps << ": " << verdict.explanation;
          EXPECT_GT(verdict.rate_bytes_per_step, .6 * kMiB);
          EXPECT_LT(verdict.rate_bytes_per_step, 1.6 * kMiB);
        } else if (rises == 4) {
          EXPECT_TRUE(verdict.verdict == Verdict::kGrowingBuffer || verdict.verdict == Verdict::kInsufficientEvidence)
              << factor << " " << first << " " << steps << ": " << verdict.explanation;
        }
      }
    }
  }
}

TEST(GrowingBuffer, FewRisesSayHowManyStepsSettleIt) {
  const auto level = [](Step step) {
    uint64_t capacity = 16;
    while (capacity < step + 1) capacity *= 2;
    return capacity * kMiB;
  };
  const LeakVerdict verdict = Judge(50, level);
  ASSERT_EQ(verdict.verdict, Verdict::kInsufficientEvidence) << verdict.explanation;
  const Step enough = 50 + verdict.further_steps_needed;
  EXPECT_EQ(Judge(enough, level).verdict, Verdict::kGrowingBuffer) << enough;
}

TEST(GrowingBuffer, ThatFadesIsNone) {
  const auto fading = [](Step step) {
    return static_cast<uint64_t>(64 * kMiB * (1 - std::exp(-static_cast<double>(step) / 40)));
  };
  EXPECT_EQ(Judge(200, fading).verdict, Verdict::kSublinear) << Judge(200, fading).explanation;
}

// An index that is built and then only read.
TEST(GrowingBuffer, ThatHasStoppedIsNone) {
  for (const double built : {.75, .8}) {
    const auto level = [built](Step step) { return (1 + std::min<uint64_t>(step, built * 400)) * 256000; };
    const LeakVerdict verdict = Judge(400, level);
    EXPECT_EQ(verdict.verdict, Verdict::kSublinear) << built << ": " << verdict.explanation;
  }
}

TEST(GrowingBuffer, ALevelThatDoesNotGrowIsNone) {
  std::mt19937_64 random(11);
  int told = 0, suspected = 0;
  constexpr int kTrials = 400;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<uint64_t> levels(trial % 2 == 0 ? 40 : 200);
    for (uint64_t& level : levels) {
      level = static_cast<uint64_t>(std::exp(std::normal_distribution<double>(6, .6)(random)) * 100000);
    }
    const LeakVerdict verdict = Judge(static_cast<Step>(levels.size()), [&](Step step) { return levels[step]; });
    told += IsLeak(verdict.verdict);
    suspected += verdict.verdict == Verdict::kInsufficientEvidence;
  }
  EXPECT_EQ(told, 0);
  EXPECT_LE(suspected, kTrials / 100);
}

TEST(GrowingBuffer, ForTheLongestBatchSoFarIsNone) {
  std::mt19937_64 random(5);
  int told = 0, suspected = 0;
  constexpr int kTrials = 600;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<uint64_t> levels(trial % 3 == 0 ? 40 : trial % 3 == 1 ? 120 : 400);
    uint64_t longest = 0;
    for (uint64_t& level : levels) {
      const double length = std::exp(std::normal_distribution<double>(6, .6)(random));
      level = longest = std::max(longest, static_cast<uint64_t>(length * 100000));
    }
    const LeakVerdict verdict = Judge(static_cast<Step>(levels.size()), [&](Step step) { return levels[step]; });
    told += IsLeak(verdict.verdict);
    suspected += verdict.verdict == Verdict::kInsufficientEvidence;
  }
  std::printf("the longest so far: %d of %d told as leaks, %d suspected\n", told, kTrials, suspected);
  EXPECT_LE(told, kTrials / 200);
  EXPECT_LE(suspected, kTrials / 12);
}

TEST(GrowingBuffer, MoreObjectsAreNoneHoweverTheLevelGrows) {
  StepLevelsBuilder builder;
  SiteHistoryBuilder history;
  for (Step step = 0; step < 120; ++step) {
    history.OnBirth(step, kMiB);
    builder.OnLevel(step + 1, {(step + 1) * kMiB, step + 1}, {});
  }
  EXPECT_EQ(JudgeLevels(builder.Finish(120), RunOf(120)).trend, BufferTrend::kNone);
}

// What each hook keeps of the last pass, if every step adds a hook.
LeakVerdict JudgeMoreInEachStep(Step steps, Step lifetime, bool last_stays = false) {
  StepLevelsBuilder builder;
  SiteHistoryBuilder history;
  std::map<Step, uint32_t> live;  // by step of birth
  for (Step step = 0; step < steps; ++step) {
    uint64_t objects = 0;
    for (auto it = live.begin(); it != live.end();) {
      const bool freed = step - it->first >= lifetime && !(last_stays && it->first + steps / 3 > steps);
      if (freed) history.OnDeath(it->first, step, it->second * kMiB, it->second);
      objects += freed ? 0 : it->second;
      it = freed ? live.erase(it) : std::next(it);
    }
    history.OnBirth(step, (step + 1) * kMiB, step + 1);
    live[step] = step + 1;
    objects += step + 1;
    builder.OnLevel(step + 1, {objects * kMiB, objects}, {});
  }
  const RunShape run = RunOf(steps);
  const SiteHistory finished = history.Finish(steps);
  LeakVerdict verdict = JudgeSite(finished, run, {});
  JudgeGrowingBuffer(builder.Finish(steps), finished, run, {}, &verdict);
  return verdict;
}

TEST(GrowingBuffer, OfMoreObjectsInEachStepIsOneIfNoneStays) {
  for (const Step steps : {40u, 120u, 1000u}) {
    const LeakVerdict verdict = JudgeMoreInEachStep(steps, 1);
    EXPECT_EQ(verdict.verdict, Verdict::kGrowingBuffer) << steps << ": " << verdict.explanation;
    EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, kMiB);
    EXPECT_NE(verdict.explanation.find("replaced by more of them"), std::string::npos) << verdict.explanation;
  }
  EXPECT_DOUBLE_EQ(JudgeMoreInEachStep(120, 3).rate_bytes_per_step, 3 * kMiB);
  EXPECT_FALSE(IsLeak(JudgeMoreInEachStep(40, 10).verdict)) << "too few lifetimes";
  EXPECT_NE(JudgeMoreInEachStep(120, 1, /*last_stays=*/true).verdict, Verdict::kGrowingBuffer);
}

TEST(GrowingBuffer, HasItsRateWhereverStepsEnd) {
  // Steps end between the birth of the new buffer and the death of the old one; from the middle on after it.
  StepLevelsBuilder builder;
  for (Step step = 0; step < 120; ++step) {
    const uint64_t before = step * kMiB, now = (step + 1) * kMiB;
    builder.OnLevel(step + 1, step < 60 ? SiteLevel{before + now, 2} : SiteLevel{now, 1}, {}, {before, 1});
  }
  const BufferGrowth growth = JudgeLevels(builder.Finish(120), RunOf(120));
  EXPECT_EQ(growth.trend, BufferTrend::kGrows);
  EXPECT_DOUBLE_EQ(growth.bytes_per_step, kMiB);
}

// Nothing is carried over: the inputs of a curriculum look just like this.
TEST(GrowingBuffer, FreedBeforeTheNextIsMadeHasKeptNothing) {
  StepLevelsBuilder builder;
  for (Step step = 0; step < 120; ++step) builder.OnLevel(step + 1, {(step + 1) * kMiB, 1}, {}, {0, 0});
  EXPECT_EQ(JudgeLevels(builder.Finish(120), RunOf(120)).trend, BufferTrend::kNone);
}

TEST(GrowingBuffer, OfManyObjectsThatAllGrowIsOne) {
  // The keys of 24 layers, each replaced by a longer one.
  const StepLevels levels = LevelsOf(
      120, [](Step step) { return 24 * (step + 1) * 16384ull; }, 24);
  const BufferGrowth growth = JudgeLevels(levels, RunOf(120));
  EXPECT_EQ(growth.trend, BufferTrend::kGrows);
  EXPECT_DOUBLE_EQ(growth.bytes_per_step, 24 * 16384.0);
  EXPECT_EQ(growth.objects, 24u);
}

TEST(GrowingBuffer, OfTwoSitesThatTakeTurnsShowsInTheirSum) {
  for (const Step steps : {120u, 2000u}) {
    const auto half = [&](Step parity) {
      return LevelsOf(steps, [&](Step step) { return step % 2 == parity ? (step + 1) * kMiB : 0; });
    };
    EXPECT_EQ(JudgeLevels(half(0), RunOf(steps)).trend, BufferTrend::kNone);
    StepLevels sum = half(0);
    AddLevels(half(1), &sum);
    const BufferGrowth growth = JudgeLevels(sum, RunOf(steps));
    EXPECT_EQ(growth.trend, BufferTrend::kGrows) << steps;
    EXPECT_NEAR(growth.bytes_per_step, kMiB, .01 * kMiB) << steps;
  }
}

TEST(GrowingBuffer, SegmentsAreNotJudgedBySize) {
  const LeakVerdict verdict = Judge(
      120, [](Step step) { return (step + 1) * kMiB; }, SegmentRole::kFrameworkFlat);
  EXPECT_NE(verdict.verdict, Verdict::kGrowingBuffer);
}

TEST(GrowingBuffer, ThatWillHardlyMatterIsMinor) {
  const LeakVerdict verdict = Judge(200, [](Step step) { return (step + 1) * 8ull; });
  EXPECT_EQ(verdict.verdict, Verdict::kMinorLeak) << verdict.explanation;
  EXPECT_NE(verdict.explanation.find("too little to matter"), std::string::npos) << verdict.explanation;
}

std::vector<SiteBirths> BirthsOf(Step steps, const Levels& size) {
  StepLevelsBuilder builder;
  SiteBirths births;
  for (Step step = 0; step < steps; ++step) {
    builder.OnLevel(step, {}, {births.bytes, births.objects});
    ++births.objects;
    births.bytes += size(step);
  }
  std::vector<SiteBirths> all = builder.births();
  all.push_back({steps, births.objects, births.bytes});
  return all;
}

TEST(SizeRatio, IsThatOfTheLaterObjects) {
  for (const Step steps : {40u, 120u, 400u, 3000u}) {
    EXPECT_DOUBLE_EQ(SizeRatio(BirthsOf(steps, [](Step) { return kMiB; })), 1) << steps;
    EXPECT_GT(SizeRatio(BirthsOf(steps, [](Step step) { return step * kMiB; })), 1.5) << steps;
  }
  EXPECT_EQ(SizeRatio({}), 0);
}

TEST(GrowingBuffer, OfMoreObjectsIsDoubtedWhereThereIsMoreOfEverything) {
  const auto judged = [&](const std::vector<ObjectSizes>& others) {
    LeakVerdict verdict = JudgeMoreInEachStep(120, 1);
    DoubtGrowthWithInputs({1, kMiB, 5, 3}, others, {}, RunOf(120), &verdict);
    return verdict;
  };
  const ObjectSizes as_many = {1, kMiB, 6, 1}, larger = {3, kMiB, 6, 1}, more = {1, kMiB, 6, 2.5};
  EXPECT_EQ(judged({as_many, as_many, larger, larger, larger}).verdict, Verdict::kGrowingBuffer);
  const LeakVerdict doubted = judged({as_many, more, more});
  EXPECT_EQ(doubted.verdict, Verdict::kInsufficientEvidence);
  EXPECT_NE(doubted.explanation.find("more inputs look the same"), std::string::npos) << doubted.explanation;
}

TEST(NumberRatio, IsThatOfTheObjectsInAStep) {
  for (const Step steps : {40u, 120u, 3000u}) {
    EXPECT_NEAR(NumberRatio(BirthsOf(steps, [](Step step) { return step * kMiB; })), 1, .01) << steps;
  }
}

TEST(GrowingBuffer, IsDoubtedWhereEverythingGrows) {
  const Levels ramp = [](Step step) { return (step + 1) * kMiB; };
  const auto judged = [&](const std::vector<ObjectSizes>& others) {
    LeakVerdict verdict = Judge(120, ramp);
    const ObjectSizes own = {SizeRatio(BirthsOf(120, ramp)), 60 * kMiB, 5};
    DoubtGrowthWithInputs(own, others, HistoryOf(120, ramp), RunOf(120), &verdict);
    return verdict;
  };
  const ObjectSizes flat = {1, 60 * kMiB, 1}, unknown;
  const ObjectSizes along = {SizeRatio(BirthsOf(120, [](Step step) { return (step + 20) * 3 * kMiB; })), 30 * kMiB, 6};
  EXPECT_EQ(judged({flat, flat, flat, along}).verdict, Verdict::kGrowingBuffer) << "scores of an attention";
  EXPECT_EQ(judged({along, along}).verdict, Verdict::kGrowingBuffer) << "too few to tell";
  const ObjectSizes mask = {along.ratio, kMiB, 2}, input = {along.ratio, 20 * kMiB, 2};
  EXPECT_EQ(judged({flat, flat, mask}).verdict, Verdict::kGrowingBuffer) << "small beside the buffer";
  EXPECT_EQ(judged({flat, flat, flat, flat, input}).verdict, Verdict::kInsufficientEvidence) << "it comes first";
  // Half of a training step does not depend on its inputs: gradients, the optimizer.
  std::vector<ObjectSizes> training(12, flat);
  training.insert(training.end(), 7, along);
  EXPECT_EQ(judged(training).verdict, Verdict::kInsufficientEvidence);
  training.insert(training.end(), 40, flat);
  EXPECT_EQ(judged(training).verdict, Verdict::kGrowingBuffer) << "an attention over a cache";
  const LeakVerdict inputs = judged({along, along, along, flat, unknown, unknown});
  EXPECT_EQ(inputs.verdict, Verdict::kInsufficientEvidence);
  EXPECT_NE(inputs.explanation.find("growing inputs"), std::string::npos) << inputs.explanation;
}

}  // namespace
}  // namespace vramtrack
