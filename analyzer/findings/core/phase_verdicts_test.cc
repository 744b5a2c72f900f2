// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/phase_verdicts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "analyzer/leaks/growing_buffer.h"

namespace vramtrack {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Step kTraining = 60, kAll = 310;
constexpr uint64_t kMiB = 1 << 20;

RunShape WholeRun() {
  RunShape run;
  run.steps = kAll;
  run.warmup_end = kTraining + WarmupEnd(kAll - kTraining);
  return run;
}

// Training, and then something else until the end.
std::vector<RunPhase> TrainingAndThen(bool evaluation) {
  std::vector<RunPhase> phases(2);
  phases[0].steps = {0, kTraining};
  phases[0].warmup_end = WarmupEnd(kTraining);
  phases[0].share = 0.5;
  phases[0].ended = true;
  phases[1].steps = {kTraining, kAll};
  phases[1].warmup_end = WholeRun().warmup_end;
  phases[1].share = 0.5;
  phases[1].follows = true;
  phases[1].after_training = evaluation;
  return phases;
}

// An object a step that stays, from `first` on.
SiteHistory KeptFrom(Step first) {
  SiteHistoryBuilder builder;
  for (Step step = first; step < kAll; ++step) builder.OnBirth(step, kMiB);
  return builder.Finish(kAll);
}

// A buffer that is made larger in each step from `first` on.
struct Buffer {
  explicit Buffer(Step first) {
    StepLevelsBuilder builder;
    SiteHistoryBuilder objects;
    for (Step step = 0; step < kAll; ++step) {
      const Step grown = step < first ? 0 : step - first + 1;
      builder.OnLevel(step + 1, {grown * kMiB, grown > 0 ? 1u : 0u}, {});
      if (grown > 0) objects.OnBirth(step, grown * kMiB);
      if (grown > 1) objects.OnDeath(step - 1, step, (grown - 1) * kMiB);
    }
    levels = builder.Finish(kAll);
    history = objects.Finish(kAll);
  }
  StepLevels levels;
  SiteHistory history;
};

LeakVerdict JudgeBuffer(const Buffer& buffer, const std::vector<RunPhase>& phases) {
  LeakVerdict verdict = JudgeInPhases(buffer.history, WholeRun(), phases, {}, JudgeDetail::kWhole).verdict;
  JudgeGrowingBuffer(buffer.levels, buffer.history, WholeRun(), {}, &verdict);
  DoubtGrowthAfterTraining(buffer.levels, WholeRun(), phases, &verdict);
  return verdict;
}

TEST(JudgeInPhases, WhatAnEvaluationCollectsAfterTheTrainingIsNoLeakYet) {
  const LeakVerdict verdict =
      JudgeInPhases(KeptFrom(kTraining), WholeRun(), TrainingAndThen(true), {}, JudgeDetail::kWhole).verdict;
  EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence);
  EXPECT_THAT(verdict.explanation, HasSubstr("memory grows within the last 250 steps only"));
  EXPECT_EQ(verdict.further_steps_needed, 0u);
  EXPECT_THAT(verdict.doubt, HasSubstr("memory grows within the last 250 steps only"));
}

TEST(JudgeInPhases, ALeakOfTheTrainingIsFoundWithAnEvaluationBehindIt) {
  const PhaseVerdict found = JudgeInPhases(KeptFrom(0), WholeRun(), TrainingAndThen(true), {}, JudgeDetail::kWhole);
  EXPECT_EQ(found.verdict.verdict, Verdict::kLeak);
  EXPECT_EQ(found.phase, 0u);
}

TEST(JudgeInPhases, ASecondTrainingIsBelieved) {
  const LeakVerdict verdict =
      JudgeInPhases(KeptFrom(kTraining), WholeRun(), TrainingAndThen(false), {}, JudgeDetail::kWhole).verdict;
  EXPECT_EQ(verdict.verdict, Verdict::kLeak);
}

TEST(DoubtGrowthAfterTraining, PredictionsThatAreJoinedInTheLastEvaluationAreNoLeakYet) {
  const LeakVerdict verdict = JudgeBuffer(Buffer(kTraining), TrainingAndThen(true));
  EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence);
  EXPECT_THAT(verdict.explanation, HasSubstr("memory grows within the last 250 steps only"));
}

TEST(DoubtGrowthAfterTraining, GrowthThatBeganInTheTrainingIsBelieved) {
  const LeakVerdict verdict = JudgeBuffer(Buffer(0), TrainingAndThen(true));
  EXPECT_EQ(verdict.verdict, Verdict::kGrowingBuffer) << verdict.explanation;
  EXPECT_THAT(verdict.explanation, Not(HasSubstr("only")));
}

}  // namespace
}  // namespace vramtrack
