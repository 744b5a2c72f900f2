// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/step_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace vramtrack {
namespace {

// A run in which one object goes each ten ticks, but where it is told not to.
class Job {
 public:
  // So many ticks in which the run works, or sleeps.
  void Work(uint64_t ticks) {
    for (uint64_t i = 0; i < ticks; i += 10) clock_.Add(now_ += 10, 1, 2);
    clock_.AllocatedAt(now_);
  }
  // Allocates and frees nothing.
  void SetUp(uint64_t ticks) {
    for (uint64_t i = 0; i < ticks; i += 10) clock_.Add(now_ += 10, 0, 1);
    clock_.AllocatedAt(now_);
  }
  void Sleep(uint64_t ticks) { now_ += ticks; }
  void Mark(const std::string& name) { Candidate(name).times.push_back(now_); }

  void Trust(const std::string& name, MarkTrust trust) { Candidate(name).trust = trust; }
  void Hold(const std::string& name, double held) { Candidate(name).held = held; }
  const std::vector<StepCandidate>& candidates() const { return candidates_; }

  StepChoice Choose() {
    RunClock clock = clock_;
    clock.Finish();
    return ChooseSteps(candidates_, clock);
  }
  // What the choice is, as "name xCOUNT", "windows", "-" for what is not judged.
  std::string Chosen() {
    std::string text;
    for (const ChosenPhase& phase : Choose().phases) {
      if (!text.empty()) text += ", ";
      if (phase.kind == ChosenPhase::Kind::kSteps) {
        text += candidates_[phase.candidate].name + " x" + std::to_string(phase.end_mark - phase.first_mark);
      } else {
        text += phase.kind == ChosenPhase::Kind::kWindows ? "windows" : "-";
      }
    }
    return text;
  }

 private:
  StepCandidate& Candidate(const std::string& name) {
    for (StepCandidate& candidate : candidates_) {
      if (candidate.name == name) return candidate;
    }
    StepCandidate candidate;
    candidate.source = StepSource::kNvtx;
    candidate.name = name;
    candidate.trust = MarkTrust::kRange;
    candidates_.push_back(std::move(candidate));
    return candidates_.back();
  }

  RunClock clock_;
  std::vector<StepCandidate> candidates_;
  uint64_t now_ = 1000;
};

TEST(JudgedShareOf, CountsLongGapsThatRecur) {
  std::vector<double> rollouts, once;
  for (int round = 0; round < 40; ++round) {
    for (int step = 0; step < 4; ++step) rollouts.push_back((round + .7 + step * .1) / 40);
    for (int step = 0; step < 4; ++step) once.push_back((round < 20 ? 0 : .5) + (round * 4 + step) * .0005);
  }
  EXPECT_LT(CoverageOf(rollouts, 0, 1), .8);
  EXPECT_GT(JudgedShareOf(rollouts, 0, 1), .95);
  EXPECT_LT(JudgedShareOf(once, 0, 1), .5) << "a single pause";
  EXPECT_EQ(JudgedShareOf({}, 0, 1), 0);
}

TEST(CoverageOf, CountsEachGapForFourUsualOnesAtMost) {
  EXPECT_DOUBLE_EQ(CoverageOf({.25, .5, .75}, 0, 1), 1);
  // From .1 to .2 in steps of a hundredth, and .04 on either side.
  std::vector<double> marks;
  for (int i = 0; i <= 10; ++i) marks.push_back(.1 + .01 * i);
  EXPECT_NEAR(CoverageOf(marks, 0, 1), .18, 1e-9);
  EXPECT_EQ(CoverageOf({.5}, 0, 1), 0);
  EXPECT_EQ(CoverageOf({.5, .5, .5}, 0, 1), 0) << "a clock that stands still";
  EXPECT_EQ(CoverageOf({}, 0, 1), 0);
}

TEST(ChooseSteps, OneThatCoversTheRun) {
  Job run;
  for (int i = 0; i < 200; ++i) {
    run.Mark("train");
    run.Work(100);
  }
  EXPECT_EQ(run.Chosen(), "train x200");
}

// The rarest name is not the step if it comes at the end only.
TEST(ChooseSteps, PhasesThatFollowEachOther) {
  Job run;
  for (int i = 0; i < 200; ++i) {
    run.Mark("train");
    run.Work(100);
  }
  for (int i = 0; i < 63; ++i) {
    run.Mark("generate");
    run.Work(60);
  }
  EXPECT_EQ(run.Chosen(), "train x200, generate x63");
}

// A jitted function that makes the batch is called in each step, and once more in each evaluation. Set-up takes most of
// the run.
TEST(ChooseSteps, OfLooseNamesTheOneThatHoldsMost) {
  Job run;
  run.Work(20000);
  for (const char* name : {"make_batch", "train_step"}) run.Trust(name, MarkTrust::kLooseName);
  run.Hold("make_batch", .1);
  run.Hold("train_step", .4);
  for (int step = 0; step < 80; ++step) {
    run.Mark("make_batch");
    run.Work(20);
    run.Mark("train_step");
    run.Work(80);
    if (step % 8 != 7) continue;
    run.Mark("make_batch");
    run.Work(20);
  }
  EXPECT_EQ(run.Chosen(), "-, train_step x80");
}

// Both loops go through their batches alike. The optimizer says where the training ends.
TEST(ChooseSteps, AnEvaluationAfterTheTrainingIsAPhase) {
  Job run;
  run.Trust("batch", MarkTrust::kLooseName);
  run.Trust("optimizer", MarkTrust::kOptimizer);
  for (int step = 0; step < 60; ++step) {
    run.Mark("batch");
    run.Work(100);
    run.Mark("optimizer");
  }
  for (int batch = 0; batch < 250; ++batch) {
    run.Mark("batch");
    run.Work(60);
  }
  EXPECT_EQ(run.Chosen(), "optimizer x60, batch x250");
}

// It is evaluated now and then, and the last time is no longer than the others.
TEST(ChooseSteps, EvaluationsBetweenTheStepsAreNoPhase) {
  Job run;
  run.Trust("batch", MarkTrust::kLooseName);
  run.Trust("optimizer", MarkTrust::kOptimizer);
  for (int epoch = 0; epoch < 6; ++epoch) {
    for (int step = 0; step < 20; ++step) {
      run.Mark("batch");
      run.Work(40);
      run.Mark("optimizer");
    }
    for (int batch = 0; batch < 30; ++batch) {
      run.Mark("batch");
      run.Work(60);
    }
  }
  EXPECT_EQ(run.Chosen(), "batch x300");
}

TEST(ChooseSteps, TheOutermostLoopThatHasEnoughSteps) {
  Job run;
  for (int epoch = 0; epoch < 4; ++epoch) {
    run.Mark("epoch");
    for (int step = 0; step < 50; ++step) {
      run.Mark("step");
      for (int layer = 0; layer < 12; ++layer) {
        run.Mark("layer");
        run.Work(30);
      }
    }
  }
  EXPECT_EQ(run.Chosen(), "step x200");
}

TEST(ChooseSteps, WhatTheJobMarksItselfIsTrustedThoughItIsRare) {
  Job run;
  run.Trust("calls", MarkTrust::kStepCall);
  for (int step = 0; step < 12; ++step) {
    run.Mark("calls");
    for (int layer = 0; layer < 20; ++layer) {
      run.Mark("layer");
      run.Work(30);
    }
  }
  EXPECT_EQ(run.Chosen(), "calls x12");
}

// A server captures a graph for each shape in its first requests; replaying them allocates nothing.
TEST(ChooseSteps, StepsThatDoNothingAreStepsIfTheJobSaysSo) {
  Job run;
  run.Trust("calls", MarkTrust::kStepCall);
  run.Work(300);
  for (int step = 0; step < 120; ++step) {
    run.Mark("calls");
    run.Work(step % 2 == 0 && step < 16 ? 100 : step % 30 == 29 ? 1 : 0);
  }
  EXPECT_EQ(run.Chosen(), "-, calls x120");
}

TEST(ChooseSteps, MarksThatCoverLittleDoNotHideAnOptimizer) {
  Job run;
  run.Trust("optimizer", MarkTrust::kOptimizer);
  run.Trust("calls", MarkTrust::kStepCall);
  for (int step = 0; step < 300; ++step) {
    if (step < 40) run.Mark("calls");
    run.Work(100);
    run.Mark("optimizer");
  }
  EXPECT_EQ(run.Chosen(), "optimizer x300");
}

TEST(ChooseSteps, WhatNoNameCoversIsJudgedInWindows) {
  Job run;
  for (int step = 0; step < 100; ++step) {
    run.Mark("train");
    run.Work(100);
  }
  run.Work(8000);
  EXPECT_EQ(run.Chosen(), "train x100, windows");
  const StepChoice choice = run.Choose();
  EXPECT_GT(choice.judged, .95);
  EXPECT_NEAR(choice.coverage, .57, .05);
}

TEST(ChooseSteps, ALongPausePartsTheMarksOfOneName) {
  Job run;
  for (const int turn : {0, 1}) {
    for (int step = 0; step < 60; ++step) {
      run.Mark("train");
      run.Work(100);
    }
    if (turn == 0) run.Work(20000);
  }
  EXPECT_EQ(run.Chosen(), "train x60, windows, train x60");
}

TEST(ChooseSteps, SetUpIsNoPartOfTheRun) {
  Job run;
  run.SetUp(50000);
  for (int step = 0; step < 50; ++step) {
    run.Mark("train");
    run.Work(100);
  }
  EXPECT_EQ(run.Chosen(), "train x50");
  EXPECT_GT(run.Choose().coverage, .95);
}

TEST(ChooseSteps, APauseCountsLittle) {
  Job run;
  for (int step = 0; step < 50; ++step) {
    run.Mark("train");
    run.Work(100);
    if (step == 20) run.Sleep(1'000'000'000);
  }
  EXPECT_EQ(run.Chosen(), "train x50");
  EXPECT_GT(run.Choose().coverage, .9);
}

TEST(ChooseSteps, NothingToGoBy) {
  EXPECT_TRUE(ChooseSteps({}, RunClock()).phases.empty());
  Job quiet;
  quiet.SetUp(1000);
  EXPECT_TRUE(quiet.Choose().phases.empty());
  Job busy;
  busy.Work(10000);
  EXPECT_EQ(busy.Chosen(), "windows");
}

// All at one instant: nothing can be told, and nothing breaks.
TEST(ChooseSteps, AClockThatStandsStill) {
  RunClock clock;
  std::vector<StepCandidate> candidates(1);
  for (int i = 0; i < 1000; ++i) {
    clock.Add(77, 1, 2);
    candidates[0].times.push_back(77);
  }
  clock.AllocatedAt(77);
  clock.Finish();
  EXPECT_TRUE(ChooseSteps(candidates, clock).phases.empty());
}

TEST(CutIntoWindows, AreOfEqualWork) {
  RunClock clock;
  for (uint64_t i = 1; i <= 10000; ++i) clock.Add(10 * i, 1, 2);
  clock.AllocatedAt(100000);
  clock.Finish();
  const std::vector<uint64_t> cuts = CutIntoWindows(clock, clock.begin(), clock.end());
  ASSERT_EQ(cuts.size(), 99u);
  for (size_t i = 0; i < cuts.size(); ++i)
    EXPECT_NEAR(static_cast<double>(cuts[i]), 1000. * static_cast<double>(i + 1), 30);
  EXPECT_TRUE(CutIntoWindows(clock, 0, 1000).empty()) << "too little happens there";
}

}  // namespace
}  // namespace vramtrack
