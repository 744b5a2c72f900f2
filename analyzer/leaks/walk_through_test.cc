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

#include "analyzer/leaks/testing/judged.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

using DoStep = std::function<void(SiteHistoryBuilder*, Step)>;

Judged Judge(Step steps, const DoStep& step) {
  SiteHistoryBuilder builder;
  for (Step i = 0; i < steps; ++i) step(&builder, i);
  return JudgeHistory(builder.Finish(steps), steps);
}

TEST(WalkThrough, AListOfScalarsIsALeakThatMatters) {
  // 512 bytes a step come to 49 MiB in 100,000 steps.
  const Judged judged = Judge(200, [](auto* site, Step step) { site->OnBirth(step, 512); });
  EXPECT_TRUE(judged.leak) << judged.posterior.log_odds;
  EXPECT_DOUBLE_EQ(judged.rate.bytes_per_step, 512);
}

TEST(WalkThrough, SevenToNineSmallTensorsAStepAreALeakWithAnInterval) {
  int covered = 0, exact = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    double total = 0;
    const Judged judged = Judge(200, [&](auto* site, Step step) {
      const auto objects = static_cast<uint32_t>(7 + random() % 3);
      site->OnBirth(step, uint64_t{objects} * 512, objects);
      total += objects;
    });
    EXPECT_TRUE(judged.leak) << judged.posterior.log_odds;
    covered += judged.rate.bytes_interval.low <= 8 * 512 && 8 * 512 <= judged.rate.bytes_interval.high;
    exact += std::abs(judged.rate.objects_per_step - total / 200) < .04 * 8;
  }
  EXPECT_GE(covered, 88);
  EXPECT_EQ(exact, 100);
}

TEST(WalkThrough, EventsThatAreNeverDestroyedLeakWithoutBytes) {
  const Judged judged = Judge(60, [](auto* site, Step step) { site->OnBirth(step, 0, 2); });
  EXPECT_TRUE(judged.leak) << judged.posterior.log_odds;
  EXPECT_DOUBLE_EQ(judged.rate.objects_per_step, 2);
  EXPECT_DOUBLE_EQ(judged.rate.bytes_per_step, 0);
}

TEST(WalkThrough, StepsOfVeryUnequalLengthChangeNothing) {
  // Each fiftieth step is an epoch's end with a thousand times the work.
  const auto work = [](auto* site, Step step) {
    const uint32_t objects = step % 50 == 49 ? 1000 : 1;
    site->OnBirth(step, objects * kMiB, objects);
    site->OnDeath(step, step, objects * kMiB, objects);
  };
  EXPECT_FALSE(Judge(200, work).any);
  const Judged leaky = Judge(200, [&](auto* site, Step step) {
    work(site, step);
    site->OnBirth(step, kMiB);
  });
  EXPECT_TRUE(leaky.leak) << leaky.posterior.log_odds;
  EXPECT_DOUBLE_EQ(leaky.rate.bytes_per_step, kMiB);
}

TEST(WalkThrough, OneStepAndTwoProveNothing) {
  for (const Step steps : {1u, 2u}) {
    const Judged kept = Judge(steps, [](auto* site, Step step) { site->OnBirth(step, kMiB); });
    EXPECT_FALSE(kept.leak) << steps;
    const Judged freed = Judge(steps, [](auto* site, Step step) {
      site->OnBirth(step, kMiB);
      site->OnDeath(step, step, kMiB);
    });
    EXPECT_FALSE(freed.any) << steps;
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
       {Bar{30, 200, 1, 80}, Bar{30, 500, 4, 2}, Bar{30, 1000, 8, 2}, Bar{60, 500, 2, 10}, Bar{100, 1000, 4, 2}}) {
    int leaks = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937_64 random(seed);
      std::vector<bool> known;
      const Judged judged = Judge(steps, TableCache(&random, keys, look_ups, &known));
      leaks += judged.leak;
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
    for (unsigned seed = 0; seed < 100; ++seed) {
      std::mt19937_64 random(seed);
      const Judged judged = Judge(steps, [&random, one_in = one_in](auto* site, Step step) {
        if (random() % one_in == 0) site->OnBirth(step, 2 * 8192, 2);
      });
      fine += judged.clean();
    }
    EXPECT_LE(fine, 1) << steps << " steps, one in " << one_in << ", of 100";
  }
}

// Busy phases of a server, of 50 requests on average, in which each third request loses something.
TEST(WalkThrough, ALeakInBurstsIsHardlyEverTakenForACache) {
  struct Bar {
    Step steps;
    unsigned runs;
    int fine, accelerating;  // at most: ten phases do not tell their variance
  };
  for (const auto& [steps, runs, most, most_accelerating] : {Bar{500, 100, 10, 6}, Bar{1500, 50, 2, 3}}) {
    int fine = 0, accelerating = 0;
    for (unsigned seed = 0; seed < runs; ++seed) {
      std::mt19937_64 random(seed);
      bool busy = false;
      const Judged judged = Judge(steps, [&random, &busy](auto* site, Step step) {
        if (random() % 50 == 0) busy = !busy;
        if (busy && random() % 3 == 0) site->OnBirth(step, 65536, 1);
      });
      fine += judged.clean();
      accelerating += judged.leak && judged.posterior.likeliest == Model::kAccelerating;
    }
    EXPECT_LE(fine, most) << steps << " steps, of " << runs;
    EXPECT_LE(accelerating, most_accelerating) << steps << " steps, of " << runs;
  }
}

// A search makes a model for each trial of 8 to 12 steps and keeps it.
TEST(WalkThrough, AnUnevenRhythmIsALeak) {
  int leaks = 0;
  for (unsigned seed = 0; seed < 100; ++seed) {
    std::mt19937_64 random(seed);
    Step next = 0;
    const Judged judged = Judge(120, [&random, &next](auto* site, Step step) {
      if (step != next) return;
      site->OnBirth(step, kMiB);
      next += 8 + random() % 5;
    });
    leaks += judged.leak;
  }
  EXPECT_GE(leaks, 75);
}

// The mix of requests changes once, and then stays.
TEST(WalkThrough, ALeakThatBecomesRarerOnceIsHardlyEverTakenForACache) {
  for (const unsigned then : {8, 14}) {
    int fine = 0;
    for (unsigned seed = 0; seed < 40; ++seed) {
      std::mt19937_64 random(seed);
      const Judged judged = Judge(1500, [&random, then](auto* site, Step step) {
        if (random() % 100 < (step < 750 ? 20 : then)) site->OnBirth(step, 65536, 1);
      });
      fine += judged.clean();
    }
    EXPECT_LE(fine, 2) << "20, then " << then << " % of the requests, of 40";
  }
}

TEST(WalkThrough, ACacheThatFillsIsNotSurelyALeak) {
  struct Bar {
    Step steps;
    int leaks;  // at most, of 200: those that take a new word in every step so far are none but a leak to see
  };
  for (const auto& [steps, most] : {Bar{30, 30}, Bar{40, 16}, Bar{50, 14}}) {
    int leaks = 0;
    for (unsigned seed = 0; seed < 200; ++seed) {
      std::mt19937_64 random(seed);
      std::vector<bool> known;
      const Judged judged = Judge(steps, WordCache(&random, &known));
      leaks += judged.leak;
    }
    EXPECT_LE(leaks, most) << steps << " steps, of 200";
  }
  int clean = 0, leaks = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    std::mt19937_64 random(seed);
    std::vector<bool> known;
    const Judged judged = Judge(1000, WordCache(&random, &known));
    clean += judged.clean();
    leaks += judged.leak;
  }
  EXPECT_GE(clean, 30);
  EXPECT_LE(leaks, 1);
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
    for (const Step steps : {first + 12, 2 * first}) EXPECT_FALSE(Judge(steps, CollectedAt(first)).leak) << steps;
    EXPECT_TRUE(Judge(20 * first, CollectedAt(first)).leak) << first;
  }
}

TEST(WalkThrough, WhatIsAllocatedOnceIsNone) {
  for (const Step once : {0u, 40u}) {
    const Judged judged = Judge(100, [once](auto* site, Step step) {
      if (step == once) site->OnBirth(step, 50 * kMiB);
    });
    EXPECT_TRUE(judged.any);
    EXPECT_TRUE(judged.clean()) << once;
  }
}

TEST(WalkThrough, WhatAnEpochKeepsAndGivesBackIsNone) {
  EXPECT_TRUE(Judge(200, [](auto* site, Step step) {
                site->OnBirth(step, kMiB);
                if (step % 25 != 24) return;
                for (Step born = step - 24; born <= step; ++born) site->OnDeath(born, step, kMiB);
              }).clean());
}

TEST(WalkThrough, AnEpochThatKeepsOneOfItsTensorsIsALeak) {
  const Judged judged = Judge(400, [](auto* site, Step step) {
    site->OnBirth(step, kMiB);
    if (step % 25 != 24) return;
    for (Step born = step - 23; born <= step; ++born) site->OnDeath(born, step, kMiB);
  });
  EXPECT_TRUE(judged.leak) << judged.posterior.log_odds;
  EXPECT_NEAR(judged.rate.objects_per_step, 1. / 25, 1e-9);
}

// One run has so many sites. By accident each keeps `mean` objects, at any time; `leaking` of them leak in each step.
int LeaksAmong(int sites, Step steps, double mean, int leaking) {
  std::mt19937_64 random(steps);
  int found = 0;
  for (int i = 0; i < sites; ++i) {
    SiteHistoryBuilder builder;
    for (Step step = 0; step < steps; ++step) {
      // Poisson distributed, and the same in every standard library.
      const bool kept = static_cast<double>(random() % 1000000) < 1e6 * mean / steps;
      builder.OnBirth(step, kMiB);
      builder.OnDeath(step, step, kMiB);
      if (kept || i < leaking) builder.OnBirth(step, kMiB);
    }
    found += JudgeHistory(builder.Finish(steps), steps, sites).leak;
  }
  return found;
}

TEST(WalkThrough, AmongThousandsOfHarmlessLinesNoneIsALeak) {
  for (const Step steps : {50u, 200u}) {
    EXPECT_EQ(LeaksAmong(2000, steps, 1, 0), 0);
    EXPECT_LE(LeaksAmong(2000, steps, 2, 0), 1) << "twice what is taken for an accident";
    EXPECT_EQ(LeaksAmong(2000, steps, 1, 3), 3) << "and real ones are found beside them";
  }
}

}  // namespace
}  // namespace vramtrack
