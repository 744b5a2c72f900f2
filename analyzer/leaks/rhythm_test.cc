// SPDX-License-Identifier: Apache-2.0
//
// Judges periodic leaks at every length of a run. They must never be reported as clean, and the number of further steps
// that a report asks for must be right.
#include "analyzer/leaks/rhythm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "analyzer/leaks/cohort.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

RunShape RunOf(Step steps) {
  RunShape run;
  run.steps = steps;
  run.warmup_end = WarmupEnd(steps);
  return run;
}

struct Site {
  Step every = 1;
  Step phase = 0;        // of its first survivor
  bool churn = false;    // beside objects that die in the step after their birth
  Step setup_steps = 0;  // so many of the first steps leave something as well
  uint64_t bytes = 4 * kMiB;
};

SiteHistory HistoryOf(const Site& site, Step steps) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < steps; ++step) {
    if (site.churn) builder.OnBirth(step, kMiB);
    if (step < site.setup_steps) builder.OnBirth(step, 32 * kMiB);
    if (step % site.every == site.phase % site.every && step >= site.phase) builder.OnBirth(step, site.bytes);
    if (site.churn && step > 0) builder.OnDeath(step - 1, step, kMiB);
  }
  return builder.Finish(steps);
}

LeakVerdict JudgeAt(const Site& site, Step steps) { return JudgeSite(HistoryOf(site, steps), RunOf(steps)); }

class RhythmTest : public ::testing::TestWithParam<Step> {};

TEST_P(RhythmTest, ALeakInEverySoManyStepsIsNeverFineAndFoundWhenItWasSaid) {
  const Step every = GetParam();
  for (const bool churn : {false, true}) {
    for (const Step phase : {every - 1, every / 2}) {
      const Site site{every, phase, churn};
      const Step known = phase + every;  // the second survivor
      Step promised = UINT32_MAX;
      for (Step steps = known + 5; steps < 14 * every + 60; ++steps) {
        const LeakVerdict verdict = JudgeAt(site, steps);
        const std::string where = (churn ? "with churn, every " : "every ") + std::to_string(every) + " from " +
                                  std::to_string(phase) + ", " + std::to_string(steps) +
                                  " steps: " + verdict.explanation;
        if (IsLeak(verdict.verdict)) continue;
        ASSERT_EQ(verdict.verdict, Verdict::kInsufficientEvidence) << where;
        ASSERT_GT(verdict.further_steps_needed, 0u) << where;
        const Step enough = steps + verdict.further_steps_needed;
        const LeakVerdict then = JudgeAt(site, enough);
        EXPECT_TRUE(IsLeak(then.verdict)) << where << "\n then: " << then.explanation;
        EXPECT_LE(enough, promised) << "the end moves away: " << where;
        promised = std::min(promised, enough);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Every, RhythmTest, ::testing::Range<Step>(1, 21));

TEST(Rhythm, OfALeakBesideWhatIsSetUpIsTheLeaks) {
  for (const Step every : {3u, 4u, 7u, 10u}) {
    const Site site{every, every - 1, false, 5};
    for (const Step steps : {40u, 60u, 120u}) {
      const LeakVerdict verdict = JudgeAt(site, steps);
      if (IsLeak(verdict.verdict)) continue;
      EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence)
          << every << " " << steps << ": " << verdict.explanation;
      EXPECT_TRUE(IsLeak(JudgeAt(site, steps + verdict.further_steps_needed).verdict)) << every << " " << steps;
    }
  }
}

TEST(Rhythm, OneValidationInTenStepsIsNotEnoughEvidence) {
  const LeakVerdict verdict = JudgeAt({10, 9}, 40);
  EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence) << verdict.explanation;
  EXPECT_TRUE(IsLeak(JudgeAt({10, 9}, 40 + verdict.further_steps_needed).verdict)) << verdict.explanation;
}

TEST(Rhythm, OfSetUpHasEnded) {
  for (const Step last : {0u, 1u, 4u, 9u}) {
    for (const Step steps : {40u, 120u, 400u}) {
      SiteHistoryBuilder builder;
      for (Step step = 0; step <= last && step <= steps / 12; ++step) builder.OnBirth(step, 32 * kMiB);
      EXPECT_EQ(JudgeSite(builder.Finish(steps), RunOf(steps)).verdict, Verdict::kOneTime) << last << " " << steps;
    }
  }
}

TEST(Rhythm, TwoSurvivorsAreSuspiciousWhereTheySpanTheRun) {
  const auto verdict = [](std::vector<Step> births) {
    SiteHistoryBuilder builder;
    for (const Step step : births) builder.OnBirth(step, 32 * kMiB);
    return JudgeSite(builder.Finish(200), RunOf(200)).verdict;
  };
  EXPECT_EQ(verdict({12, 18}), Verdict::kOneTime);
  EXPECT_EQ(verdict({60, 130}), Verdict::kInsufficientEvidence);
  EXPECT_EQ(verdict({30, 80}), Verdict::kOneTime) << "the third one would be there";
  EXPECT_EQ(verdict({150, 160}), Verdict::kOneTime) << "nothing came before";
  EXPECT_EQ(verdict({40, 90, 140}), Verdict::kInsufficientEvidence);
  EXPECT_EQ(verdict({20, 22, 24}), Verdict::kOneTime);
}

// Two epochs: the second evaluation comes after the last step.
TEST(Rhythm, WhatTheEndLeavesLikeAStepBeforeIsSuspicious) {
  const auto judge = [](Step kept, uint32_t tail, bool frees) {
    SiteHistoryBuilder builder;
    if (frees) builder.OnShortLived(kept - 1, 3, 3 * kMiB);
    builder.OnBirth(kept, 16 * kMiB, 16);
    builder.OnTail(tail, tail * kMiB);
    return JudgeSite(builder.Finish(190), RunOf(190));
  };
  const LeakVerdict verdict = judge(95, 16, false);
  EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence) << verdict.explanation;
  EXPECT_GE(verdict.further_steps_needed, 95u);
  EXPECT_LE(verdict.further_steps_needed, 5 * 95u);
  EXPECT_EQ(judge(95, 0, false).verdict, Verdict::kOneTime);
  EXPECT_EQ(judge(95, 1, false).verdict, Verdict::kOneTime) << "the last output is a variable's";
  EXPECT_EQ(judge(95, 16, true).verdict, Verdict::kOneTime) << "it frees what it allocates";
  EXPECT_EQ(judge(25, 16, false).verdict, Verdict::kInsufficientEvidence) << "the end may be any number of steps later";
}

TEST(Rhythm, WhatASiteKeepsOfAllThatItDropsMayComeAtRandom) {
  const auto verdict = [](const std::vector<Step>& kept, bool drops) {
    SiteHistoryBuilder builder;
    for (Step step = 0; step < 60; ++step) {
      if (drops) builder.OnBirth(step, kMiB);
      if (std::count(kept.begin(), kept.end(), step) > 0) builder.OnBirth(step, kMiB);
      if (drops) builder.OnDeath(step, step, kMiB);
    }
    return JudgeSite(builder.Finish(60), RunOf(60)).verdict;
  };
  EXPECT_EQ(verdict({12, 26}, true), Verdict::kInsufficientEvidence);
  EXPECT_EQ(verdict({12, 26}, false), Verdict::kOneTime);
  EXPECT_EQ(verdict({9, 12, 31}, true), Verdict::kInsufficientEvidence);
  EXPECT_EQ(verdict({9, 12, 31}, false), Verdict::kOneTime);
  EXPECT_EQ(verdict({9, 14}, true), Verdict::kOneTime) << "it has stopped";
}

TEST(Rhythm, WhatWillHardlyMatterIsLetBe) { EXPECT_EQ(JudgeAt({20, 19, false, 0, 64}, 60).verdict, Verdict::kOneTime); }

TEST(Rhythm, OfChanceAsksForANumberOfStepsThatIsMostlyEnough) {
  std::mt19937 random(3);
  int asked = 0, found = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<bool> leaks;
    for (int step = 0; step < 2000; ++step) leaks.push_back(random() % 8 == 0);
    const auto at = [&](Step steps) {
      SiteHistoryBuilder builder;
      for (Step step = 0; step < steps; ++step) {
        builder.OnBirth(step, kMiB, leaks[step] ? 2 : 1);
        builder.OnDeath(step, step, kMiB / 2);
      }
      return JudgeSite(builder.Finish(steps), RunOf(steps));
    };
    const LeakVerdict verdict = at(60);
    if (verdict.verdict != Verdict::kInsufficientEvidence || verdict.further_steps_needed == 0) continue;
    ++asked;
    found += IsLeak(at(std::min<Step>(2000, 60 + verdict.further_steps_needed)).verdict);
  }
  std::printf("leaks by chance: %d of %d found when it was said\n", found, asked);
  EXPECT_GT(asked, 100);
  EXPECT_GT(found, asked / 2);
}

TEST(Rhythm, ThatGoesOnMakesTheHistoryThatComes) {
  for (const Step every : {1u, 4u, 9u}) {
    const Site site{every, every - 1};
    const Step steps = 5 * every + 7;
    const SiteHistory history = HistoryOf(site, steps);
    const SiteHistory then = Extended(history, RhythmOf(history, RunOf(steps), steps), 300);
    const SiteHistory truth = HistoryOf(site, 300);
    ASSERT_EQ(then.cohorts.size(), truth.cohorts.size()) << every;
    for (size_t i = 0; i < truth.cohorts.size(); ++i) {
      EXPECT_EQ(then.cohorts[i].step, truth.cohorts[i].step) << every;
      EXPECT_EQ(then.cohorts[i].live_bytes, truth.cohorts[i].live_bytes) << every;
    }
    EXPECT_EQ(then.born_objects, truth.born_objects);
  }
}

}  // namespace
}  // namespace vramtrack
