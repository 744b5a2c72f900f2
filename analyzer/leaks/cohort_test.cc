// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/cohort.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "analyzer/base/quantity.h"
#include "analyzer/leaks/explanation.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

RunShape RunOf(Step steps) {
  RunShape run;
  run.steps = steps;
  run.warmup_end = WarmupEnd(steps);
  return run;
}

// `bytes` left behind in every `every`-th step from step `first` on, beside churn of `lifetime` steps.
SiteHistory Leaking(Step steps, Step every, uint64_t bytes, Step lifetime = 0, Step first = 0) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step <= steps; ++step) {
    builder.OnBirth(step, 3 * kMiB);
    if (step >= lifetime) builder.OnDeath(step - lifetime, step, 3 * kMiB);
    if (step >= first && step % every == 0) builder.OnBirth(step, bytes);
  }
  return builder.Finish(steps);
}

TEST(Verdict, HasTheNamesOfTheReport) {
  EXPECT_STREQ(NameOf(Verdict::kLeak), "leak");
  EXPECT_STREQ(NameOf(Verdict::kAcceleratingLeak), "accelerating_leak");
  EXPECT_STREQ(NameOf(Verdict::kGrowingBuffer), "growing_buffer");
  EXPECT_STREQ(NameOf(Verdict::kMinorLeak), "minor_leak");
  EXPECT_STREQ(NameOf(Verdict::kSublinear), "sublinear");
  EXPECT_STREQ(NameOf(Verdict::kPhaseAccumulation), "phase_accumulation");
  EXPECT_STREQ(NameOf(Verdict::kCycleGarbage), "cycle_garbage");
  EXPECT_STREQ(NameOf(Verdict::kOneTime), "one_time");
  EXPECT_STREQ(NameOf(Verdict::kFragmentationGrowth), "fragmentation_growth");
  EXPECT_STREQ(NameOf(Verdict::kSteady), "steady");
  EXPECT_STREQ(NameOf(Verdict::kInsufficientEvidence), "insufficient_evidence");
}

TEST(CohortTest, ALeakInEveryStepIsFoundFrom23StepsOnWithItsExactRate) {
  for (Step steps : {23u, 30u, 60u, 100u, 997u, 20000u}) {
    const LeakVerdict verdict = JudgeSite(Leaking(steps, 1, 4 * kMiB), RunOf(steps));
    EXPECT_EQ(verdict.verdict, Verdict::kLeak) << steps << ": " << verdict.explanation;
    EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 4.0 * kMiB) << steps;
    EXPECT_DOUBLE_EQ(verdict.rate_objects_per_step, 1) << steps;
    EXPECT_DOUBLE_EQ(verdict.rate_ci_low, 4.0 * kMiB) << steps;
    EXPECT_DOUBLE_EQ(verdict.rate_ci_high, 4.0 * kMiB) << steps;
    EXPECT_FALSE(verdict.onset_step.has_value()) << steps;
  }
}

TEST(CohortTest, AKilledRunOfThirtyStepsIsEnoughUnderOrdinaryChurn) {
  for (Step lifetime = 0; lifetime <= 5; ++lifetime) {
    const LeakVerdict verdict = JudgeSite(Leaking(30, 1, 4 * kMiB, lifetime), RunOf(30));
    EXPECT_EQ(verdict.verdict, Verdict::kLeak) << lifetime << ": " << verdict.explanation;
    EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 4.0 * kMiB) << lifetime;
  }
}

TEST(CohortTest, ALeakInEveryNthStepHasItsExactRate) {
  for (Step steps : {60u, 61u, 100u, 203u}) {
    for (Step every : {2u, 3u, 5u}) {
      const LeakVerdict verdict = JudgeSite(Leaking(steps, every, 4 * kMiB), RunOf(steps));
      EXPECT_EQ(verdict.verdict, Verdict::kLeak) << steps << " " << every << ": " << verdict.explanation;
      EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 4.0 * kMiB / every) << steps << " " << every;
      EXPECT_DOUBLE_EQ(verdict.rate_ci_low, verdict.rate_bytes_per_step);
      EXPECT_DOUBLE_EQ(verdict.rate_ci_high, verdict.rate_bytes_per_step);
    }
  }
}

TEST(CohortTest, OneFreedObjectOfAThreadThatWaitedDoesNotMakeAllOthersOrdinary) {
  const auto verdict = [](Step kept_every, Step waited) {
    SiteHistoryBuilder builder;
    for (Step step = 0; step < 240; ++step) {
      builder.OnBirth(step, kMiB);
      if (step % kept_every != 0) builder.OnDeath(step, step, kMiB);
      if (step == 4) builder.OnBirth(step, kMiB);
      if (step == 4 + waited) builder.OnDeath(4, step, kMiB);
    }
    return JudgeSite(builder.Finish(240), RunOf(240));
  };
  const LeakVerdict kept = verdict(3, 234);
  EXPECT_EQ(kept.verdict, Verdict::kInsufficientEvidence) << kept.explanation;
  EXPECT_GT(kept.further_steps_needed, 0u);
  EXPECT_EQ(verdict(300, 234).verdict, Verdict::kOneTime) << "only the one of the first step stayed";
}

TEST(CohortTest, WindowsOfUnequalWorkAreNoAcceleration) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < 100; ++step) builder.OnBirth(step, (step < 50 ? 4 : 6) * kMiB, step < 50 ? 4 : 6);
  RunShape run = RunOf(100);
  EXPECT_EQ(JudgeSite(builder.Finish(100), run).verdict, Verdict::kAcceleratingLeak);
  run.windows = true;
  EXPECT_EQ(JudgeSite(builder.Finish(100), run).verdict, Verdict::kLeak);
}

TEST(CohortTest, SaysInOneSentenceWhatDecided) {
  EXPECT_EQ(JudgeSite(Leaking(60, 1, 4 * kMiB, 1), RunOf(60)).explanation,
            "each of the 51 steps checked (6 to 56) left 1 object (4.00 MiB) that was still live after the last "
            "step; the other objects allocated here were freed within 1 step");
  EXPECT_EQ(JudgeSite(Leaking(60, 3, 4 * kMiB), RunOf(60)).explanation,
            "every 3rd of the 52 steps checked (6 to 57) left 1 object (4.00 MiB) that was still live after the last "
            "step; the other objects allocated here were freed within their step");
}

TEST(CohortTest, SpeaksInTheJobsOwnStepNumbers) {
  RunShape run = RunOf(60);
  for (uint64_t step = 0; step < 60; ++step) run.step_numbers.push_back(1000 + 10 * step);
  const LeakVerdict verdict = JudgeSite(Leaking(60, 1, 4 * kMiB, 0, 30), run);
  EXPECT_EQ(verdict.onset_step, 30u) << "the index";
  EXPECT_NE(verdict.explanation.find("since step 1300, each of the 28 steps checked (1300 to 1570)"), std::string::npos)
      << verdict.explanation;
}

TEST(CohortTest, OnsetIsExactForALeakThatBeginsInMidRun) {
  const LeakVerdict verdict = JudgeSite(Leaking(200, 1, kMiB, 2, 77), RunOf(200));
  EXPECT_EQ(verdict.verdict, Verdict::kLeak);
  EXPECT_EQ(verdict.onset_step, 77u);
  EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 1.0 * kMiB);
}

TEST(CohortTest, BelowTheSmallestRunSaysHowManyStepsAreMissing) {
  for (Step steps : {2u, 8u, 15u, 22u}) {
    const LeakVerdict verdict = JudgeSite(Leaking(steps, 1, 4 * kMiB), RunOf(steps));
    EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence) << steps << ": " << verdict.explanation;
    EXPECT_EQ(steps + verdict.further_steps_needed, 23u) << steps;
    const Step enough = steps + verdict.further_steps_needed;
    EXPECT_EQ(JudgeSite(Leaking(enough, 1, 4 * kMiB), RunOf(enough)).verdict, Verdict::kLeak);
  }
}

TEST(CohortTest, TooFewStepsAreNoReasonToSuspectWhatIsYoung) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < 12; ++step) {
    builder.OnBirth(step, kMiB);
    if (step >= 3) builder.OnDeath(step - 3, step, kMiB);
  }
  EXPECT_EQ(JudgeSite(builder.Finish(12), RunOf(12)).verdict, Verdict::kSteady);
}

// 2.4 requests in each window ask for one of 400 keys: of 240 requests, fewer and fewer make an entry. Each window has
// some, so that the windows with entries say nothing.
TEST(CohortTest, ACacheThatFillsInEveryWindowIsNoLeak) {
  RunShape run = RunOf(100);
  run.windows = true;
  SiteHistoryBuilder builder;
  double entries = 0;
  for (Step window = 0; window < 100; ++window) {
    const double filled = 400 * (1 - std::exp(-2.4 * (window + 1) / 400));
    const auto made = static_cast<uint32_t>(std::floor(filled) - std::floor(entries));
    if (made > 0) builder.OnBirth(window, made * kMiB, made);
    entries = filled;
  }
  EXPECT_EQ(JudgeSite(builder.Finish(100), run).verdict, Verdict::kSublinear);
}

// A leak of the same number of requests keeps what each of them made.
TEST(CohortTest, ALeakInEveryWindowIsOne) {
  RunShape run = RunOf(100);
  run.windows = true;
  SiteHistoryBuilder builder;
  std::mt19937_64 random(3);
  for (Step window = 0; window < 100; ++window) {
    const auto made = static_cast<uint32_t>(1 + random() % 4);
    builder.OnBirth(window, made * kMiB, made);
  }
  EXPECT_EQ(JudgeSite(builder.Finish(100), run).verdict, Verdict::kLeak);
}

TEST(CohortTest, WithoutAnyStepNothingIsClaimed) {
  const LeakVerdict verdict = JudgeSite(SiteHistoryBuilder().Finish(0), RunOf(0));
  EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence);
  EXPECT_EQ(verdict.explanation, "the trace has no complete step; 23 more steps are needed");
}

TEST(CohortTest, WithoutAnyStepAFewAllocationsAreOneOffs) {
  SiteContext context;
  context.allocations = 3;
  const LeakVerdict few = JudgeSite(SiteHistoryBuilder().Finish(0), RunOf(0), context);
  EXPECT_EQ(few.verdict, Verdict::kOneTime);
  EXPECT_EQ(few.further_steps_needed, 0u);
  EXPECT_EQ(few.explanation, "3 allocations in the whole run, which has no complete step");
  context.allocations = 4;
  EXPECT_EQ(JudgeSite(SiteHistoryBuilder().Finish(0), RunOf(0), context).verdict, Verdict::kInsufficientEvidence);
}

TEST(CohortTest, WhatAJobFreesAtItsEndIsALeakNonetheless) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < 60; ++step) builder.OnBirth(step, kMiB);
  for (Step step = 0; step < 60; ++step) builder.OnDeath(step, 60, kMiB);
  EXPECT_EQ(JudgeSite(builder.Finish(60), RunOf(60)).verdict, Verdict::kLeak);
}

TEST(CohortTest, ALeakThatWillNotMatterIsMinor) {
  RunShape run = RunOf(100);
  run.device_total_bytes = 80ull << 30;
  EXPECT_EQ(JudgeSite(Leaking(100, 1, 512), run).verdict, Verdict::kLeak) << "51 MB in 100,000 steps";
  run.horizon_steps = 1000;
  const LeakVerdict verdict = JudgeSite(Leaking(100, 1, 512), run);
  EXPECT_EQ(verdict.verdict, Verdict::kMinorLeak);
  EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 512);
}

TEST(CohortTest, HandlesWithoutBytesLeakToo) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < 60; ++step) builder.OnBirth(step, 0);
  const LeakVerdict verdict = JudgeSite(builder.Finish(60), RunOf(60));
  EXPECT_EQ(verdict.verdict, Verdict::kLeak) << verdict.explanation;
  EXPECT_DOUBLE_EQ(verdict.rate_objects_per_step, 1);
  EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 0);
}

TEST(CohortTest, MoreAndMoreIsAnAcceleratingLeak) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < 100; ++step) {
    for (Step object = 0; object < 1 + step / 10; ++object) builder.OnBirth(step, kMiB);
  }
  const LeakVerdict verdict = JudgeSite(builder.Finish(100), RunOf(100));
  EXPECT_EQ(verdict.verdict, Verdict::kAcceleratingLeak) << verdict.explanation;
}

TEST(CohortTest, GrowingObjectsAreAnAcceleratingLeak) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < 100; ++step) builder.OnBirth(step, (1 + step) * kMiB);
  const LeakVerdict verdict = JudgeSite(builder.Finish(100), RunOf(100));
  EXPECT_EQ(verdict.verdict, Verdict::kAcceleratingLeak) << verdict.explanation;
}

TEST(CohortTest, ACollectorsGarbageIsNoLeak) {
  SiteHistoryBuilder builder;
  Step oldest = 0;
  for (Step step = 0; step < 100; ++step) {
    builder.OnBirth(step, kMiB);
    if (step % 21 != 20 - (step / 50)) continue;
    for (; oldest < step; ++oldest) builder.OnDeath(oldest, step, kMiB);
  }
  const LeakVerdict verdict = JudgeSite(builder.Finish(100), RunOf(100));
  EXPECT_EQ(verdict.verdict, Verdict::kCycleGarbage) << verdict.explanation;
}

TEST(CohortTest, SegmentsOfAnAllocatorAreNotTheirOwnLeak) {
  const SiteHistory history = Leaking(60, 1, 2 * kMiB);
  EXPECT_EQ(JudgeSite(history, RunOf(60), {SegmentRole::kNone}).verdict, Verdict::kLeak);
  EXPECT_EQ(JudgeSite(history, RunOf(60), {SegmentRole::kFrameworkFlat}).verdict, Verdict::kFragmentationGrowth);
  EXPECT_EQ(JudgeSite(history, RunOf(60), {SegmentRole::kFrameworkGrowing}).verdict, Verdict::kSteady);
}

TEST(CohortTest, SegmentsThatGrowInStairsAreFragmentation) {
  SiteHistoryBuilder builder;
  for (const Step step : {0u, 3u, 30u, 55u, 90u, 140u, 190u}) builder.OnBirth(step, 20 * kMiB);
  const LeakVerdict verdict = JudgeSite(builder.Finish(200), RunOf(200), {SegmentRole::kFrameworkFlat});
  EXPECT_EQ(verdict.verdict, Verdict::kFragmentationGrowth) << verdict.explanation;
}

TEST(CohortTest, ABufferFromTheSetUpThatIsReplacedLateDoesNotHideALeak) {
  SiteHistoryBuilder builder;
  builder.OnBirth(0, 64 * kMiB);
  for (Step step = 0; step < 60; ++step) {
    builder.OnBirth(step, kMiB);
    if (step == 45) builder.OnDeath(0, step, 64 * kMiB);
  }
  const LeakVerdict verdict = JudgeSite(builder.Finish(60), RunOf(60));
  EXPECT_EQ(verdict.verdict, Verdict::kLeak) << verdict.explanation;
  EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 1.0 * kMiB);
}

TEST(CohortTest, EverySentenceSaysSomething) {
  for (Step steps : {10u, 60u}) {
    for (Step first : {0u, 3u, 30u, 55u}) {
      for (Step every : {1u, 7u, 25u}) {
        EXPECT_GT(JudgeSite(Leaking(steps, every, kMiB, 1, first), RunOf(steps)).explanation.size(), 20u);
      }
    }
  }
}

TEST(DemoteChanceFindings, KeepsRealLeaksAmongThousandsOfSites) {
  std::vector<LeakVerdict> verdicts(5000);
  verdicts[17] = JudgeSite(Leaking(30, 1, kMiB), RunOf(30));
  verdicts[18].verdict = Verdict::kLeak;
  verdicts[18].p_value = PoissonTail(1, 6);
  verdicts[18].evidence.leaking = {5, 28};
  DemoteChanceFindings(&verdicts);
  EXPECT_EQ(verdicts[17].verdict, Verdict::kLeak);
  EXPECT_EQ(verdicts[18].verdict, Verdict::kInsufficientEvidence);
  EXPECT_GT(verdicts[18].further_steps_needed, 0u);
}

TEST(FormatBytes, IsShort) {
  EXPECT_EQ(FormatByteCount(512), "512 B");
  EXPECT_EQ(FormatByteCount(4 * kMiB), "4.00 MiB");
  EXPECT_EQ(FormatByteCount(1536), "1.50 KiB");
}

}  // namespace
}  // namespace vramtrack
