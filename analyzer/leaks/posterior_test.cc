// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/posterior.h"

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/leaks/births.h"

namespace vramtrack {
namespace {

// Objects that survived, by step.
Evidence Left(Step steps, const std::vector<Step>& at) {
  Evidence evidence;
  evidence.steps = steps;
  evidence.end = steps - 1;
  for (const Step step : at) evidence.left.push_back({step, 1, 4096});
  return evidence;
}

std::vector<Step> Every(Step begin, Step end, Step every = 1) {
  std::vector<Step> steps;
  for (Step step = begin; step < end; step += every) steps.push_back(step);
  return steps;
}

TEST(JudgeEvidence, AnObjectInEachStepIsALeak) {
  for (const Step steps : {40u, 100u, 1000u}) {
    const Posterior posterior = JudgeEvidence(Left(steps, Every(0, steps - 1)));
    EXPECT_TRUE(posterior.is_leak()) << steps << ": " << posterior.log_odds;
    EXPECT_EQ(posterior.likeliest, Model::kLeak);
  }
}

TEST(JudgeEvidence, AnObjectInEveryTenthStepIsALeakOnceItWasSeenOften) {
  EXPECT_FALSE(JudgeEvidence(Left(25, Every(3, 24, 10))).is_leak());
  EXPECT_TRUE(JudgeEvidence(Left(300, Every(3, 299, 10))).is_leak());
}

TEST(JudgeEvidence, ABoundedCacheIsNone) {
  // Twenty entries, ever more rarely.
  const std::vector<Step> fills = {0, 1, 2, 3, 4, 5, 7, 8, 10, 12, 14, 17, 20, 24, 29, 35, 43, 54, 70, 95};
  for (const Step steps : {200u, 400u, 1000u}) {
    const Posterior posterior = JudgeEvidence(Left(steps, fills));
    EXPECT_LT(posterior.log_odds, 0) << steps;
    // In 200 steps a leak that has become rarer looks the same.
    EXPECT_TRUE(steps == 200 || posterior.is_clean()) << steps << ": " << posterior.log_odds;
  }
}

TEST(JudgeEvidence, SetUpIsNone) {
  for (const Step steps : {30u, 100u, 1000u}) {
    EXPECT_TRUE(JudgeEvidence(Left(steps, Every(0, 3))).is_clean()) << steps;
    EXPECT_TRUE(JudgeEvidence(Left(steps, {0})).is_clean()) << steps;
  }
}

TEST(JudgeEvidence, WhatBeganLaterIsDated) {
  const Posterior posterior = JudgeEvidence(Left(400, Every(150, 399)));
  EXPECT_TRUE(posterior.is_leak());
  EXPECT_TRUE(posterior.onset);
  EXPECT_NEAR(posterior.begin, 150, 3);
}

TEST(JudgeEvidence, WhatEndedInTheMiddleIsNone) { EXPECT_FALSE(JudgeEvidence(Left(400, Every(0, 150))).is_leak()); }

TEST(EvidenceOfSurvivors, OnlyWhatIsOlderThanWhatWasFreedCounts) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < 50; ++step) {
    builder.OnBirth(step, 8);
    if (step >= 10) builder.OnDeath(step - 10, step, 8);  // a window of ten steps
  }
  const Evidence evidence = EvidenceOfSurvivors(builder.Finish(50), 50);
  EXPECT_EQ(evidence.longest, 10u);
  EXPECT_EQ(evidence.end, 39u);
  EXPECT_FALSE(evidence.any());
  EXPECT_EQ(evidence.recent, 10u);
}

TEST(EvidenceOfGrowth, ARiseThatIsUndoneIsNoSurvivor) {
  const Evidence evidence = EvidenceOfGrowth({10, 10, 15, 30, 15, 20, 20, 20});
  ASSERT_EQ(evidence.left.size(), 2u);
  EXPECT_EQ(evidence.left[0].step, 2u);
  EXPECT_EQ(evidence.left[0].bytes, 5u);
  EXPECT_EQ(evidence.left[1].step, 5u);
  EXPECT_EQ(evidence.left[1].bytes, 5u);
  EXPECT_FALSE(EvidenceOfGrowth({}).any());
  EXPECT_FALSE(EvidenceOfGrowth({7, 7, 7, 7}).any());
  EXPECT_FALSE(EvidenceOfGrowth({9, 8, 7, 6}).any());
}

// What a site allocates in each step.
template <typename InStep>
BirthTotals BirthsOf(Step steps, InStep in_step) {
  BirthTotals totals;
  Births all;
  for (Step step = 0; step < steps; ++step) {
    NoteBirths(step, all, &totals);
    const Births more = in_step(step);
    all.objects += more.objects;
    all.bytes += more.bytes;
  }
  return CompleteBirths(totals, steps, all);
}

TEST(Posterior, LongerRunsShowRarerLeaks) {
  EXPECT_EQ(RarestLeak(0), 0u);
  EXPECT_EQ(RarestLeak(5), 0u);
  Step last = 0;
  for (const Step steps : {30u, 100u, 1000u, 20000u}) {
    const Step rarest = RarestLeak(steps);
    EXPECT_GT(rarest, last) << steps;
    EXPECT_LT(rarest, steps / 5) << steps;
    last = rarest;
  }
}

TEST(Births, LargerObjectsAreToldFromMore) {
  for (const Step steps : {64u, 100u, 1000u}) {
    const BirthTotals same = BirthsOf(steps, [](Step) { return Births{2, 200}; });
    EXPECT_DOUBLE_EQ(SizeRatio(same, steps), 1) << steps;
    EXPECT_DOUBLE_EQ(NumberRatio(same, steps), 1) << steps;
    const BirthTotals larger = BirthsOf(steps, [](Step step) { return Births{1, 100 + uint64_t{step}}; });
    EXPECT_GT(SizeRatio(larger, steps), 1.1) << steps;
    EXPECT_DOUBLE_EQ(NumberRatio(larger, steps), 1) << steps;
    const BirthTotals more = BirthsOf(steps, [](Step step) { return Births{1 + step, 8 * uint64_t{1 + step}}; });
    EXPECT_DOUBLE_EQ(SizeRatio(more, steps), 1) << steps;
    EXPECT_GT(NumberRatio(more, steps), 1.1) << steps;
    BirthTotals both = larger;
    AddBirths(larger, &both);
    EXPECT_DOUBLE_EQ(SizeRatio(both, steps), SizeRatio(larger, steps)) << steps;
  }
  EXPECT_EQ(SizeRatio({}, 100), 0);
}

}  // namespace
}  // namespace vramtrack
