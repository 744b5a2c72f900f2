// SPDX-License-Identifier: Apache-2.0
//
// Tests with synthetic streams of transformer training: layers, gradient accumulation, evaluations, branches, noise,
// checkpointing.
#include "analyzer/steps/regular_gaps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <vector>

#include "analyzer/steps/testing/anchor_steps.h"

namespace vramtrack {
namespace {

struct Job {
  const char* name;
  int layers, sites_per_layer, micro_steps, steps, evaluate_every;
  double branching, dynamic, noise;
  bool checkpointing;
};

struct Stream {
  std::vector<uint32_t> sites;
  std::vector<size_t> step_starts, micro_step_starts;
};

// Ranges of site indices.
constexpr uint32_t kEmbedding = 10, kHead = 30, kForward = 100, kBackward = 300, kOptimizer = 500, kState = 550,
                   kRecompute = 600, kEvaluation = 800, kSetup = 1000, kNoise = 1100;

Stream Record(const Job& job) {
  std::mt19937_64 random(7);
  Stream stream;
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  const auto add = [&](uint32_t site) { stream.sites.push_back(site); };
  const auto noise = [&] {
    if (uniform() < job.noise) add(kNoise + static_cast<uint32_t>(uniform() * 200));
  };
  const auto skipped = [&](int i) { return i % 5 == 4 && uniform() < job.branching; };
  for (uint32_t i = 0; i < 500; ++i) add(kSetup + i % 37);
  for (int step = 0; step < job.steps; ++step) {
    stream.step_starts.push_back(stream.sites.size());
    for (int micro = 0; micro < job.micro_steps; ++micro) {
      stream.micro_step_starts.push_back(stream.sites.size());
      const double length = 1 + job.dynamic * (2 * uniform() - 1);
      for (uint32_t i = 0; i < 6; ++i) {
        add(kEmbedding + i);
        noise();
      }
      for (int layer = 0; layer < job.layers; ++layer) {
        for (int i = 0; i < job.sites_per_layer; ++i) {
          if (skipped(i)) continue;
          const int times = i % 7 == 3 ? std::max(1, static_cast<int>(std::lround(2 * length))) : 1;
          for (int time = 0; time < times; ++time) add(kForward + i);
          noise();
        }
      }
      for (uint32_t i = 0; i < 8; ++i) {
        add(kHead + i);
        noise();
      }
      for (int layer = 0; layer < job.layers; ++layer) {
        for (int i = 0; job.checkpointing && i < job.sites_per_layer; ++i) add(kRecompute + i);
        for (int i = 0; i < job.sites_per_layer; ++i) {
          if (skipped(i)) continue;
          add(kBackward + i);
          noise();
        }
      }
    }
    for (uint32_t i = 0; i < 12; ++i) {
      add(kOptimizer + i);
      noise();
    }
    for (int i = 0; step == 0 && i < 4 * job.layers; ++i) add(kState + i % 4);
    if (job.evaluate_every == 0 || (step + 1) % job.evaluate_every != 0) continue;
    for (int i = 0; i < 5 * job.sites_per_layer * job.layers; ++i) add(kEvaluation + i % job.sites_per_layer);
  }
  return stream;
}

double MeanGap(const std::vector<size_t>& starts) {
  return static_cast<double>(starts.back() - starts.front()) / static_cast<double>(starts.size() - 1);
}

class JobsTest : public ::testing::TestWithParam<Job> {};

TEST_P(JobsTest, StepOrMicroStepIsFoundAndNeverALayer) {
  const Job& job = GetParam();
  const Stream stream = Record(job);
  RegularGaps gaps;
  for (const uint32_t site : stream.sites) gaps.OnEvent(site);
  const std::vector<GapFamily> families = gaps.Families();
  ASSERT_FALSE(families.empty());
  const GapFamily& innermost = families.front();

  EXPECT_EQ(innermost.occurrences, stream.micro_step_starts.size());
  EXPECT_NEAR(innermost.period_events / MeanGap(stream.micro_step_starts), 1, .1);
  if (job.micro_steps > 1) {
    ASSERT_GE(families.size(), 2u) << "the optimizer's step is the loop around it";
    EXPECT_EQ(families[1].occurrences, stream.step_starts.size());
  }
  const std::vector<OuterLoop> loops = LoopsAround(innermost, families);
  if (job.micro_steps > 1) {
    ASSERT_FALSE(loops.empty());
    EXPECT_EQ(loops[0].inner, static_cast<uint64_t>(job.micro_steps));
    EXPECT_EQ(loops[0].occurrences, stream.step_starts.size());
  } else if (job.evaluate_every == 0) {
    EXPECT_TRUE(loops.empty()) << loops[0].inner << " steps";
  }

  AnchorSteps anchor(innermost.anchor);
  for (size_t i = 0; i < stream.sites.size(); ++i) anchor.OnEvent(stream.sites[i], 1000 + i);
  const Steps steps = anchor.Finish();
  EXPECT_EQ(steps.source, StepSource::kPeriodicity);
  ASSERT_EQ(steps.complete(), stream.micro_step_starts.size());
  for (size_t i = 0; i < steps.complete(); ++i) {
    EXPECT_EQ(steps.boundaries[i], 1000 + stream.micro_step_starts[i]) << "the first site of a step is the anchor";
  }
  EXPECT_GE(steps.confidence, job.evaluate_every > 0 ? .9 : .99);
  std::printf("%-28s period %.1f, %llu times, confidence %.3f\n", job.name, innermost.period_events,
              static_cast<unsigned long long>(innermost.occurrences), steps.confidence);
}

INSTANTIATE_TEST_SUITE_P(Streams, JobsTest,
                         ::testing::Values(Job{"Layers12", 12, 40, 1, 100, 0, 0, 0, 0, false},
                                           Job{"Layers32", 32, 40, 1, 100, 0, 0, 0, 0, false},
                                           Job{"Layers80", 80, 30, 1, 60, 0, 0, 0, 0, false},
                                           Job{"Accumulation", 32, 40, 4, 60, 0, 0, 0, 0, false},
                                           Job{"Evaluation", 32, 40, 1, 200, 20, 0, 0, 0, false},
                                           Job{"Branches", 32, 40, 1, 100, 0, .3, 0, 0, false},
                                           Job{"DynamicShapes", 32, 40, 1, 100, 0, .2, .4, 0, false},
                                           Job{"Noise", 32, 40, 1, 100, 0, .2, .2, .05, false},
                                           Job{"Checkpointing", 32, 40, 1, 100, 0, 0, 0, .01, true},
                                           Job{"AllOfIt", 32, 40, 4, 100, 25, .2, .3, .03, true}),
                         [](const auto& info) { return info.param.name; });

TEST(RegularGaps, AStreamWithoutAPeriodHasNone) {
  std::mt19937_64 random(3);
  RegularGaps gaps;
  for (int i = 0; i < 100000; ++i) gaps.OnEvent(static_cast<uint32_t>(random() % 200));
  EXPECT_TRUE(gaps.Families().empty());
  EXPECT_TRUE(RegularGaps().Families().empty());
}

TEST(RegularGaps, AnOrdinaryShortJobIsEnough) {
  RegularGaps gaps;
  for (int step = 0; step < 12; ++step) {
    for (uint32_t site = 0; site < 9; ++site) gaps.OnEvent(site);
  }
  ASSERT_EQ(gaps.Families().size(), 1u);
  EXPECT_EQ(gaps.Families()[0].occurrences, 12u);
  EXPECT_DOUBLE_EQ(gaps.Families()[0].period_events, 9);
}

TEST(RegularGaps, ALoopThatIsNoWholeNumberOfTheInnermostIsNotSure) {
  GapFamily step, whole, broken, rare;
  step.occurrences = 120;
  step.period_events = 50;
  whole.occurrences = 30;
  whole.period_events = 201;
  broken.occurrences = 48;
  broken.period_events = 125;
  rare.occurrences = 8;
  rare.period_events = 400;  // eight steps, but of a part of the run
  ASSERT_EQ(LoopsAround(step, {step, broken, whole, rare}).size(), 1u);
  EXPECT_EQ(LoopsAround(step, {step, broken, whole, rare})[0].inner, 4u);
  EXPECT_EQ(LoopsAround(step, {step, broken, whole, rare})[0].occurrences, 30u);
  EXPECT_TRUE(LoopsAround(step, {step}).empty());
}

TEST(RegularGaps, CutsWhereTheLeastIsLive) {
  RegularGaps gaps;
  const uint64_t live[] = {500, 900, 1300, 700, 100, 300};
  for (int step = 0; step < 20; ++step) {
    for (uint32_t site = 0; site < 6; ++site) gaps.OnEvent(site, live[site]);
  }
  ASSERT_EQ(gaps.Families().size(), 1u);
  EXPECT_EQ(gaps.Families()[0].anchor, 4u);
}

// The job of a native program that does little: `sites` in each step.
void Loop(RegularGaps& gaps, uint32_t sites, int steps) {
  for (int step = 0; step < steps; ++step) {
    for (uint32_t site = 0; site < sites; ++site) gaps.OnEvent(site, site * 100);
  }
}

TEST(RegularGaps, ALoopThatIsTheWholeStreamMayHaveTwoSites) {
  for (const uint32_t sites : {2, 3, 4}) {
    RegularGaps gaps;
    Loop(gaps, sites, 50);
    ASSERT_EQ(gaps.Families().size(), 1u) << sites;
    EXPECT_EQ(gaps.Families()[0].occurrences, 50u);
    EXPECT_EQ(gaps.Families()[0].anchor, 0u);
  }
  RegularGaps one;
  Loop(one, 1, 500);
  EXPECT_TRUE(one.Families().empty()) << "one line may be a loop within a step as well";
}

TEST(RegularGaps, ARunKilledWithinAStepHasTheSameSteps) {
  RegularGaps gaps;
  Loop(gaps, 3, 40);
  gaps.OnEvent(0, 0);
  ASSERT_EQ(gaps.Families().size(), 1u);
  EXPECT_EQ(gaps.Families()[0].occurrences, 41u);
  EXPECT_EQ(gaps.Families()[0].sites.size(), 3u);
}

TEST(RegularGaps, ASmallLoopMayDoMoreNowAndThen) {
  RegularGaps gaps;
  for (int step = 0; step < 60; ++step) {
    gaps.OnEvent(0, 0);
    if (step >= 6) gaps.OnEvent(1, 100);  // not before a queue has filled
    if (step >= 6) gaps.OnEvent(2, 200);
    if (step % 7 == 3) gaps.OnEvent(3, 200);
  }
  ASSERT_EQ(gaps.Families().size(), 1u);
  EXPECT_EQ(gaps.Families()[0].occurrences, 60u);
  EXPECT_EQ(gaps.Families()[0].anchor, 0u);
}

TEST(RegularGaps, ASmallLoopWithinAStepIsNone) {
  // Thirty parameters of two allocations each, in a step of 61 with one more: half of the stream and more, but in
  // bursts.
  RegularGaps gaps;
  for (int step = 0; step < 40; ++step) {
    for (int i = 0; i < 30; ++i) Loop(gaps, 2, 1);
    for (int i = 0; i < 30; ++i) gaps.OnEvent(2);
  }
  EXPECT_TRUE(gaps.Families().empty());
}

// Steps of a forward pass (sites 0 to 9) and what only training does (10 to 39), and an evaluation of four forward
// passes after each `every` of them; or what only some steps do (site 40 to 43), in all but one of `every`.
GapFamily StepsWith(int every, bool evaluation) {
  RegularGaps gaps;
  for (int step = 0; step < 200; ++step) {
    Loop(gaps, 10, 1);
    for (uint32_t site = 10; site < 40; ++site) gaps.OnEvent(site);
    const bool at = step % every == every - 1;
    if (evaluation && at) Loop(gaps, 10, 4);
    for (uint32_t site = 40; site < 44 && !evaluation && !at; ++site) gaps.OnEvent(site);
  }
  const std::vector<GapFamily> families = gaps.Families();
  EXPECT_EQ(families.size(), 2u);
  const GapFamily* steps = RegularGaps::StepsOf(families);
  return steps != nullptr ? *steps : GapFamily();
}

TEST(RegularGaps, PassesOfAnEvaluationAreNoSteps) {
  // Forward passes: 200 and 4 in each evaluation.
  EXPECT_EQ(StepsWith(/*every=*/50, /*evaluation=*/true).occurrences, 200u);
  EXPECT_EQ(StepsWith(/*every=*/100, /*evaluation=*/true).occurrences, 200u);
}

TEST(RegularGaps, WhatMostStepsDoIsNotTheStep) {
  EXPECT_EQ(StepsWith(/*every=*/20, /*evaluation=*/false).occurrences, 200u);
  EXPECT_EQ(StepsWith(/*every=*/50, /*evaluation=*/false).occurrences, 200u);
}

TEST(RegularGaps, WhatBeginsLaterIsTheSameLoop) {
  RegularGaps gaps;
  for (int step = 0; step < 120; ++step) {
    for (uint32_t site = 0; site < 6; ++site) gaps.OnEvent(site);
    // At first something else takes the place of what is a cache's or a compiler's later on.
    for (uint32_t site = 10; site < 16; ++site) gaps.OnEvent(step < 8 ? 20 + site + static_cast<uint32_t>(step) : site);
    if (step < 4) gaps.OnEvent(50);
  }
  const std::vector<GapFamily> families = gaps.Families();
  ASSERT_EQ(families.size(), 2u);
  EXPECT_LT(families[1].deviation, families[0].deviation);
  EXPECT_EQ(RegularGaps::StepsOf(families)->occurrences, 120u);
}

// A request passes through equal layers, whose lines of code are the same. Between two of them its activations are
// live.
TEST(RegularGaps, TwoEqualLayersAreOneStep) {
  for (const int layers : {2, 3}) {
    RegularGaps gaps;
    for (int request = 0; request < 60; ++request) {
      for (uint32_t i = 0; i < 4; ++i) gaps.OnEvent(i, 1000 + 10 * i);
      for (int layer = 0; layer < layers; ++layer) {
        for (uint32_t i = 0; i < 24; ++i) gaps.OnEvent(10 + i, 1100 + 10 * i);
      }
    }
    const std::vector<GapFamily> families = gaps.Families();
    ASSERT_FALSE(families.empty());
    EXPECT_EQ(families.front().occurrences, static_cast<uint64_t>(60 * layers)) << layers;
    const GapFamily* steps = RegularGaps::StepsOf(families);
    EXPECT_EQ(steps->occurrences, 60u) << layers;
    EXPECT_EQ(steps->anchor, 0u) << layers;
  }
}

// The layers of a small model are run by one line. What a request does besides are a site or two.
TEST(RegularGaps, ARequestOfFewSitesIsTheStepNotItsLayers) {
  for (const int once : {1, 2}) {
    RegularGaps gaps;
    for (int request = 0; request < 100; ++request) {
      for (int i = 0; i < once; ++i) gaps.OnEvent(static_cast<uint32_t>(i), 1000);
      for (int layer = 0; layer < 3; ++layer) {
        gaps.OnEvent(10, 1100);
        gaps.OnEvent(11, 1200);
      }
      if (request == 50) gaps.OnEvent(20, 1100);
    }
    const std::vector<GapFamily> families = gaps.Families();
    ASSERT_FALSE(families.empty());
    EXPECT_EQ(families.front().occurrences, 300u);
    const GapFamily* steps = RegularGaps::StepsOf(families);
    EXPECT_EQ(steps->occurrences, 100u) << once;
    EXPECT_EQ(steps->anchor, 0u) << once;
  }
}

// What every third step logs is allocated when more is live than between steps.
TEST(RegularGaps, WhatEveryThirdSmallStepLogsIsNotAStep) {
  RegularGaps gaps;
  for (int step = 0; step < 120; ++step) {
    gaps.OnEvent(0, 1000);
    gaps.OnEvent(1, 1100);
    if (step % 3 == 2) gaps.OnEvent(2, 1200);
  }
  EXPECT_EQ(RegularGaps::StepsOf(gaps.Families())->occurrences, 120u);
}

// Every other step logs something. Nothing is handed on from one step to the next.
TEST(RegularGaps, WhatEveryOtherStepAddsIsNotAStep) {
  RegularGaps gaps;
  for (int step = 0; step < 120; ++step) {
    for (uint32_t i = 0; i < 30; ++i) gaps.OnEvent(i, 1000 + 10 * i);
    for (uint32_t i = 0; i < 4 && step % 2 == 1; ++i) gaps.OnEvent(50 + i, 1200);
  }
  const std::vector<GapFamily> families = gaps.Families();
  EXPECT_EQ(RegularGaps::StepsOf(families)->occurrences, 120u);
}

// With too few requests the layers within them are what can be judged.
TEST(RegularGaps, OfFewRequestsTheLayersAreSteps) {
  RegularGaps gaps;
  for (int request = 0; request < 20; ++request) {
    for (uint32_t i = 0; i < 4; ++i) gaps.OnEvent(i, 1000);
    for (uint32_t i = 0; i < 48; ++i) gaps.OnEvent(10 + i % 24, 1100);
  }
  const std::vector<GapFamily> families = gaps.Families();
  EXPECT_EQ(RegularGaps::StepsOf(families)->occurrences, 40u);
}

TEST(RegularGaps, OfNoFamilyThereAreNoSteps) { EXPECT_EQ(RegularGaps::StepsOf({}), nullptr); }

TEST(AnchorSteps, WithoutAnOccurrenceThereAreNoSteps) {
  AnchorSteps steps(5);
  steps.OnEvent(1, 10);
  EXPECT_EQ(steps.Finish().source, StepSource::kNone);
  EXPECT_EQ(steps.Finish().complete(), 0u);
}

TEST(GapHistogram, KnowsEqualGapsExactlyAndOthersToASixteenth) {
  GapHistogram equal, spread;
  for (int i = 0; i < 100; ++i) equal.Add(123457);
  EXPECT_DOUBLE_EQ(equal.Median(), 123457);
  EXPECT_DOUBLE_EQ(equal.DeviationQuantile(equal.Median(), .9), 0);
  for (uint64_t gap = 1000; gap <= 3000; ++gap) spread.Add(gap);
  EXPECT_NEAR(spread.Median(), 2000, 2000 / 16.);
  EXPECT_NEAR(spread.DeviationQuantile(2000, .9), .45, .04);
  EXPECT_DOUBLE_EQ(equal.MeanLogDeviation(equal.Median()), 0);
  EXPECT_NEAR(equal.MeanLogDeviation(2 * equal.Median()), std::log(2), 1e-9);
  EXPECT_NEAR(equal.MeanLogDeviation(equal.Median() / 2), std::log(2), 1e-9);
  GapHistogram extreme;
  extreme.Add(0);
  extreme.Add(UINT64_MAX);
  EXPECT_EQ(extreme.count(), 2u);
}

}  // namespace
}  // namespace vramtrack
