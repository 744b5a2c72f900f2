// SPDX-License-Identifier: Apache-2.0
//
// Histories of typical jobs, each with the verdict that a person who knew the job would give.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/leaks/cohort.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

RunShape RunOf(Step steps) {
  RunShape run;
  run.steps = steps;
  run.warmup_end = WarmupEnd(steps);
  run.device_total_bytes = uint64_t{80} << 30;
  return run;
}

using DoStep = std::function<void(SiteHistoryBuilder*, Step)>;

LeakVerdict Judged(Step steps, const DoStep& step, const SiteContext& context = {}) {
  SiteHistoryBuilder builder;
  for (Step i = 0; i < steps; ++i) step(&builder, i);
  return JudgeSite(builder.Finish(steps), RunOf(steps), context);
}

Verdict VerdictOf(Step steps, const DoStep& step) { return Judged(steps, step).verdict; }

TEST(WalkThrough, AListOfScalarsIsALeakThatMatters) {
  // 512 bytes a step come to 49 MiB in 100,000 steps.
  const LeakVerdict verdict = Judged(200, [](auto* site, Step step) { site->OnBirth(step, 512); });
  EXPECT_EQ(verdict.verdict, Verdict::kLeak) << verdict.explanation;
  EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 512);
}

TEST(WalkThrough, SevenToNineSmallTensorsAStepAreALeakWithAnInterval) {
  int covered = 0, exact = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    double total = 0;
    const LeakVerdict verdict = Judged(200, [&](auto* site, Step step) {
      const auto objects = static_cast<uint32_t>(7 + random() % 3);
      site->OnBirth(step, uint64_t{objects} * 512, objects);
      total += objects;
    });
    EXPECT_EQ(verdict.verdict, Verdict::kLeak) << verdict.explanation;
    covered += verdict.rate_ci_low <= 8 * 512 && 8 * 512 <= verdict.rate_ci_high;
    exact += std::abs(verdict.rate_objects_per_step - total / 200) < .04 * 8;
  }
  EXPECT_GE(covered, 88);
  EXPECT_EQ(exact, 100);
}

TEST(WalkThrough, EventsThatAreNeverDestroyedLeakWithoutBytes) {
  const LeakVerdict verdict = Judged(60, [](auto* site, Step step) { site->OnBirth(step, 0, 2); });
  EXPECT_EQ(verdict.verdict, Verdict::kLeak) << verdict.explanation;
  EXPECT_DOUBLE_EQ(verdict.rate_objects_per_step, 2);
  EXPECT_DOUBLE_EQ(verdict.rate_bytes_per_step, 0);
}

TEST(WalkThrough, StepsOfVeryUnequalLengthChangeNothing) {
  // Each fiftieth step is an epoch's end with a thousand times the work.
  const auto work = [](auto* site, Step step) {
    const uint32_t objects = step % 50 == 49 ? 1000 : 1;
    site->OnBirth(step, objects * kMiB, objects);
    site->OnDeath(step, step, objects * kMiB, objects);
  };
  EXPECT_EQ(VerdictOf(200, work), Verdict::kSteady);
  const LeakVerdict leaky = Judged(200, [&](auto* site, Step step) {
    work(site, step);
    site->OnBirth(step, kMiB);
  });
  EXPECT_EQ(leaky.verdict, Verdict::kLeak) << leaky.explanation;
  EXPECT_DOUBLE_EQ(leaky.rate_bytes_per_step, kMiB);
}

TEST(WalkThrough, OneStepAndTwoProveNothing) {
  for (const Step steps : {1u, 2u}) {
    const LeakVerdict kept = Judged(steps, [](auto* site, Step step) { site->OnBirth(step, kMiB); });
    EXPECT_EQ(kept.verdict, Verdict::kInsufficientEvidence) << steps;
    EXPECT_GE(kept.further_steps_needed, 20u);
    EXPECT_NE(kept.explanation.find("more steps"), std::string::npos) << kept.explanation;
    const LeakVerdict freed = Judged(steps, [](auto* site, Step step) {
      site->OnBirth(step, kMiB);
      site->OnDeath(step, step, kMiB);
    });
    EXPECT_EQ(freed.verdict, Verdict::kSteady) << steps;
  }
}

// A cache of what is asked for with probabilities that fall as those of words do.
DoStep WordCache(std::mt19937_64* random, std::vector<bool>* known) {
  known->assign(4096, false);
  return [=](auto* site, Step step) {
    const double u = static_cast<double>((*random)() % 1000000 + 1) / 1e6;
    const auto key = std::min<size_t>(4095, static_cast<size_t>(std::pow(4096.0, u)) - 1);
    if (!(*known)[key]) site->OnBirth(step, kMiB);
    (*known)[key] = true;
  };
}

// Several look-ups a step, all keys alike.
DoStep TableCache(std::mt19937_64* random, size_t keys, int look_ups, std::vector<bool>* known) {
  known->assign(keys, false);
  return [=](auto* site, Step step) {
    for (int i = 0; i < look_ups; ++i) {
      const size_t key = (*random)() % keys;
      if (!(*known)[key]) site->OnBirth(step, kMiB);
      (*known)[key] = true;
    }
  };
}

// Each step takes something new, but ever less of it.
TEST(WalkThrough, ACacheThatTakesLessInSomeStepsThanInMostIsNotSurelyALeak) {
  struct Bar {
    Step steps;
    size_t keys;
    int look_ups;
    int leaks;  // at most, of 200
  };
  for (const auto& [steps, keys, look_ups, most] :
       {Bar{30, 200, 1, 40}, Bar{30, 500, 4, 0}, Bar{30, 1000, 8, 0}, Bar{60, 500, 2, 10}, Bar{100, 1000, 4, 2}}) {
    int leaks = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937_64 random(seed);
      std::vector<bool> known;
      const LeakVerdict verdict = Judged(steps, TableCache(&random, keys, look_ups, &known));
      leaks += IsLeak(verdict.verdict);
      EXPECT_TRUE(IsLeak(verdict.verdict) || verdict.verdict == Verdict::kSublinear || verdict.further_steps_needed > 0)
          << verdict.explanation;
    }
    EXPECT_LE(leaks, most) << steps << " steps, " << look_ups << " of " << keys << " keys, of 200";
  }
}

// Chance alone makes the later half of some runs leave clearly less.
TEST(WalkThrough, ALeakAtRandomIsHardlyEverTakenForACache) {
  struct Job {
    Step steps;
    unsigned one_in;
  };
  for (const auto& [steps, one_in] : {Job{200, 10}, Job{450, 15}, Job{500, 12}, Job{1200, 17}}) {
    int fine = 0;
    for (unsigned seed = 0; seed < 400; ++seed) {
      std::mt19937_64 random(seed);
      const Verdict verdict = VerdictOf(steps, [&random, one_in = one_in](auto* site, Step step) {
        if (random() % one_in == 0) site->OnBirth(step, 2 * 8192, 2);
      });
      fine += !IsLeak(verdict) && verdict != Verdict::kInsufficientEvidence;
    }
    EXPECT_LE(fine, 4) << steps << " steps, one in " << one_in << ", of 400";
  }
}

// Busy phases of a server, of 50 requests on average, in which each third request loses something.
TEST(WalkThrough, ALeakInBurstsIsHardlyEverTakenForACache) {
  struct Bar {
    Step steps;
    int fine;  // at most, of 200: ten phases do not tell their variance
  };
  for (const auto& [steps, most] : {Bar{500, 16}, Bar{1500, 4}, Bar{5000, 4}}) {
    int fine = 0, accelerating = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937_64 random(seed);
      bool busy = false;
      const Verdict verdict = VerdictOf(steps, [&random, &busy](auto* site, Step step) {
        if (random() % 50 == 0) busy = !busy;
        if (busy && random() % 3 == 0) site->OnBirth(step, 65536, 1);
      });
      fine += !IsLeak(verdict) && verdict != Verdict::kInsufficientEvidence;
      accelerating += verdict == Verdict::kAcceleratingLeak;
    }
    EXPECT_LE(fine, most) << steps << " steps, of 200";
    EXPECT_LE(accelerating, 12) << steps << " steps, of 200";
  }
}

// The mix of requests changes once, and then stays.
TEST(WalkThrough, ALeakThatBecomesRarerOnceIsHardlyEverTakenForACache) {
  for (const unsigned then : {8, 14}) {
    int fine = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937_64 random(seed);
      const Verdict verdict = VerdictOf(1500, [&random, then](auto* site, Step step) {
        if (random() % 100 < (step < 750 ? 20 : then)) site->OnBirth(step, 65536, 1);
      });
      fine += !IsLeak(verdict) && verdict != Verdict::kInsufficientEvidence;
    }
    EXPECT_LE(fine, 10) << "20, then " << then << " % of the requests, of 200";
  }
}

TEST(WalkThrough, ACacheThatFillsIsNotSurelyALeak) {
  struct Bar {
    Step steps;
    int leaks;  // at most, of 200: those that take a new word in every step so far are none but a leak to see
  };
  for (const auto& [steps, most] : {Bar{30, 30}, Bar{40, 8}, Bar{50, 5}}) {
    int leaks = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937_64 random(seed);
      std::vector<bool> known;
      const LeakVerdict verdict = Judged(steps, WordCache(&random, &known));
      leaks += IsLeak(verdict.verdict);
      if (verdict.evidence.may_be_filling) {
        EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence);
        EXPECT_NE(verdict.explanation.find("a cache that fills"), std::string::npos) << verdict.explanation;
        EXPECT_TRUE(verdict.further_steps_needed > 0 || !verdict.doubt.empty()) << verdict.explanation;
      }
    }
    EXPECT_LE(leaks, most) << steps << " steps, of 200";
  }
  int sublinear = 0, leaks = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<bool> known;
    const Verdict verdict = VerdictOf(1000, WordCache(&random, &known));
    sublinear += verdict == Verdict::kSublinear;
    leaks += IsLeak(verdict);
  }
  EXPECT_GE(sublinear, 190);
  EXPECT_LE(leaks, 8);
}

// What a collector frees, which has run once, next to an object that lives into the next step.
DoStep CollectedAt(Step first) {
  return [=](auto* site, Step step) {
    site->OnBirth(step, kMiB, 2);
    if (step > 0) site->OnDeath(step - 1, step, kMiB);
    if (step != first) return;
    for (Step born = 0; born < step; ++born) site->OnDeath(born, step, kMiB);
  };
}

TEST(WalkThrough, AfterOneCollectionWhatIsLeftMayBeCollectedToo) {
  for (const Step first : {12u, 20u, 32u}) {
    for (const Step steps : {80u, 100u, 119u}) {
      const LeakVerdict verdict = Judged(steps, CollectedAt(first));
      EXPECT_EQ(verdict.verdict, Verdict::kInsufficientEvidence)
          << first << " of " << steps << ": " << verdict.explanation;
    }
    const LeakVerdict verdict = Judged(110, CollectedAt(first));
    EXPECT_NE(verdict.explanation.find("freed at once"), std::string::npos) << verdict.explanation;
    EXPECT_GT(verdict.further_steps_needed, 0u);
    EXPECT_TRUE(IsLeak(VerdictOf(110 + verdict.further_steps_needed, CollectedAt(first)))) << first;
  }
}

TEST(WalkThrough, WhatIsAllocatedOnceIsOneTime) {
  EXPECT_EQ(VerdictOf(100,
                      [](auto* site, Step step) {
                        if (step == 0) site->OnBirth(step, 50 * kMiB);
                      }),
            Verdict::kOneTime);
  EXPECT_EQ(VerdictOf(100,
                      [](auto* site, Step step) {
                        if (step == 40) site->OnBirth(step, 50 * kMiB);
                      }),
            Verdict::kOneTime);
}

TEST(WalkThrough, WhatAnEpochKeepsAndGivesBackIsAPhase) {
  EXPECT_EQ(VerdictOf(200,
                      [](auto* site, Step step) {
                        site->OnBirth(step, kMiB);
                        if (step % 25 != 24) return;
                        for (Step born = step - 24; born <= step; ++born) site->OnDeath(born, step, kMiB);
                      }),
            Verdict::kPhaseAccumulation);
}

TEST(WalkThrough, AnEpochThatKeepsOneOfItsTensorsIsALeak) {
  const LeakVerdict verdict = Judged(400, [](auto* site, Step step) {
    site->OnBirth(step, kMiB);
    if (step % 25 != 24) return;
    for (Step born = step - 23; born <= step; ++born) site->OnDeath(born, step, kMiB);
  });
  EXPECT_EQ(verdict.verdict, Verdict::kLeak) << verdict.explanation;
  EXPECT_NEAR(verdict.rate_objects_per_step, 1. / 25, 1e-9);
}

// Thousands of sites of one run, each of which keeps `mean` objects by accident at some time. All devices and levels
// are tested together, so they are but more sites.
int FalseLeaksAmong(int sites, Step steps, double mean, int leaking) {
  std::mt19937_64 random(steps);
  std::vector<LeakVerdict> verdicts;
  for (int i = 0; i < sites; ++i) {
    std::vector<uint32_t> kept(steps, 0);
    // Poisson distributed, and the same in every standard library.
    for (Step step = 0; step < steps; ++step)
      kept[step] += static_cast<double>(random() % 1000000) < 1e6 * mean / steps;
    SiteHistoryBuilder builder;
    for (Step step = 0; step < steps; ++step) {
      builder.OnBirth(step, kMiB);
      builder.OnDeath(step, step, kMiB);
      if (kept[step] > 0 || i < leaking) builder.OnBirth(step, kMiB);
    }
    verdicts.push_back(JudgeSite(builder.Finish(steps), RunOf(steps), {}, JudgeDetail::kVerdict));
  }
  DemoteChanceFindings(&verdicts);
  int found = 0;
  for (const LeakVerdict& verdict : verdicts) found += IsLeak(verdict.verdict);
  return found;
}

TEST(WalkThrough, AmongThousandsOfHarmlessSitesNoneIsALeak) {
  for (const Step steps : {50u, 200u}) {
    EXPECT_EQ(FalseLeaksAmong(4000, steps, 1, 0), 0);
    EXPECT_LE(FalseLeaksAmong(4000, steps, 2, 0), 1) << "twice what is taken for an accident";
    EXPECT_EQ(FalseLeaksAmong(4000, steps, 1, 3), 3) << "and real ones are found beside them";
  }
}

}  // namespace
}  // namespace vramtrack
