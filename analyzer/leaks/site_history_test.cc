// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/site_history.h"

#include <gtest/gtest.h>

#include <random>
#include <tuple>

namespace vramtrack {
namespace {

TEST(SiteHistoryBuilder, SurvivorsAreBirthsMinusDeathsOfEachCohort) {
  SiteHistoryBuilder builder;
  builder.OnBirth(0, 100);
  builder.OnBirth(0, 50);
  builder.OnDeath(0, 0, 50);
  builder.OnBirth(2, 30);
  builder.OnBirth(3, 7);
  builder.OnDeath(2, 3, 30);
  const SiteHistory history = builder.Finish(4);

  ASSERT_EQ(history.cohorts.size(), 3u);
  EXPECT_EQ(history.cohorts[0].step, 0u);
  EXPECT_EQ(history.cohorts[0].born_objects, 2u);
  EXPECT_EQ(history.cohorts[0].born_bytes, 150u);
  EXPECT_EQ(history.cohorts[0].live_objects, 1u);
  EXPECT_EQ(history.cohorts[0].live_bytes, 100u);
  EXPECT_EQ(history.cohorts[1].live_objects, 0u);
  EXPECT_EQ(history.cohorts[2].live_bytes, 7u);
  EXPECT_EQ(history.born_objects, 4u);
  EXPECT_EQ(history.live_objects(), 2u);
  EXPECT_EQ(history.live_bytes(), 107u);
  EXPECT_EQ(history.birth_steps, 3u);
  EXPECT_EQ(history.first_birth, 0u);
  EXPECT_EQ(history.last_birth, 3u);
  EXPECT_EQ(history.max_completed_lifetime_steps, 1u);
  EXPECT_EQ(history.completed_lifetimes[0], 1u);
  EXPECT_EQ(history.completed_lifetimes[1], 1u);
  ASSERT_EQ(history.deaths.size(), 1u) << "only of objects that outlived their step";
  EXPECT_EQ(history.deaths[0].step, 3u);
  EXPECT_EQ(history.deaths[0].bytes, 30u);
}

TEST(SiteHistoryBuilder, WhatAJobFreesOnItsWayOutStillCountsAsALeak) {
  SiteHistoryBuilder builder;
  for (Step step = 0; step < 10; ++step) builder.OnBirth(step, 8);
  builder.OnBirth(10, 8);  // in the step that was never completed
  for (Step step = 0; step <= 10; ++step) builder.OnDeath(step, 10, 8);
  const SiteHistory history = builder.Finish(10);
  EXPECT_EQ(history.live_objects(), 10u);
  EXPECT_EQ(history.live_bytes(), 80u);
  EXPECT_EQ(history.died_objects, 0u);
  EXPECT_EQ(history.max_completed_lifetime_steps, 0u);
  EXPECT_EQ(history.birth_steps, 10u);
  EXPECT_EQ(history.last_birth, 9u);
  ASSERT_EQ(history.cohorts.size(), 10u);
  for (const Cohort& cohort : history.cohorts) EXPECT_EQ(cohort.live_objects, 1u);
}

TEST(SiteHistoryBuilder, DeathsInTheLastCompleteStepCount) {
  SiteHistoryBuilder builder;
  builder.OnBirth(3, 8);
  builder.OnDeath(3, 9, 8);
  const SiteHistory history = builder.Finish(10);
  EXPECT_EQ(history.live_objects(), 0u);
  EXPECT_EQ(history.max_completed_lifetime_steps, 6u);
  EXPECT_EQ(history.completed_lifetimes[3], 1u) << "lifetimes 4 to 7";
}

TEST(SiteHistoryBuilder, MemoryFollowsTheLiveSetAndNotTheTrace) {
  SiteHistoryBuilder builder;
  constexpr Step kSteps = 200000;
  for (Step step = 0; step < kSteps; ++step) {
    builder.OnBirth(step, 16);
    if (step % 1000 == 0) builder.OnBirth(step, 1);
    if (step > 0) builder.OnDeath(step - 1, step, 16);
  }
  const SiteHistory history = builder.Finish(kSteps);
  EXPECT_LE(history.cohorts.size(), 8192u);
  EXPECT_LE(history.deaths.size(), 4096u);
  EXPECT_EQ(history.live_objects(), kSteps / 1000 + 1);
  EXPECT_EQ(history.birth_steps, kSteps) << "steps without survivors stay in the totals";
  uint64_t survivors = 0, deaths = 0;
  for (const Cohort& cohort : history.cohorts) survivors += cohort.live_objects;
  for (const Deaths& at : history.deaths) deaths += at.objects;
  EXPECT_EQ(survivors, history.live_objects());
  EXPECT_EQ(deaths, kSteps - 1);
}

TEST(SiteHistoryBuilder, DeathsWithoutABirthChangeNothing) {
  SiteHistoryBuilder builder;
  builder.OnDeath(0, 1, 8);
  builder.OnBirth(2, 8);
  builder.OnDeath(2, 2, 8);
  builder.OnDeath(2, 2, 8);
  builder.OnDeath(1, 3, 8);
  const SiteHistory history = builder.Finish(5);
  EXPECT_EQ(history.live_objects(), 0u);
  EXPECT_EQ(history.died_bytes, 8u);
}

TEST(SiteHistoryBuilder, WhatIsSetUpBeforeTheFirstStepDoesNotSetTheOrdinaryLifetime) {
  SiteHistoryBuilder builder;
  builder.OnBirth(0, 8);
  for (Step step = 1; step < 40; ++step) {
    builder.OnBirth(step, 8);
    builder.OnDeath(step, step, 8);
  }
  builder.OnDeath(0, 40, 8);
  const SiteHistory history = builder.Finish(60);
  EXPECT_EQ(history.max_completed_lifetime_steps, 0u);
}

TEST(SiteHistoryBuilder, FinishCanBeAskedAgain) {
  SiteHistoryBuilder builder;
  builder.OnBirth(0, 8);
  builder.OnDeath(0, 1, 8);
  EXPECT_EQ(builder.Finish(2).live_objects(), 0u);
  EXPECT_EQ(builder.Finish(1).live_objects(), 1u) << "the death lies in the incomplete step then";
  EXPECT_EQ(builder.Finish(2).live_objects(), 0u);
}

TEST(SiteHistory, OfTwoSitesIsThatOfTheirEventsTogether) {
  std::mt19937 random(17);
  const auto below = [&](uint32_t n) { return random() % n; };
  struct Object {
    bool second;
    Step birth;
    uint64_t bytes;
  };
  for (int trial = 0; trial < 200; ++trial) {
    const Step steps = 1 + below(trial % 20 == 0 ? 9000 : 60);
    const uint32_t births = below(5), most_live = 1 + below(40);
    SiteHistoryBuilder both, first, second;
    std::vector<Object> live;
    for (Step step = 0; step <= steps; ++step) {
      for (uint32_t i = births == 0 ? 0 : below(births); i > 0; --i) {
        live.push_back({below(3) == 0, step, 1 + below(1000)});
        both.OnBirth(step, live.back().bytes);
        (live.back().second ? second : first).OnBirth(step, live.back().bytes);
      }
      while (!live.empty() && (live.size() > most_live || below(3) == 0)) {
        const size_t which = below(static_cast<uint32_t>(live.size()));
        const Object object = live[which];
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
        both.OnDeath(object.birth, step, object.bytes);
        (object.second ? second : first).OnDeath(object.birth, step, object.bytes);
      }
    }
    const SiteHistory truth = both.Finish(steps);
    const SiteHistory merged = Merged({first.Finish(steps), second.Finish(steps)});
    const auto survivors = [](const SiteHistory& history) {
      std::vector<std::tuple<Step, uint32_t, uint64_t>> all;
      for (const Cohort& cohort : history.cohorts) {
        if (cohort.live_objects > 0) all.emplace_back(cohort.step, cohort.live_objects, cohort.live_bytes);
      }
      return all;
    };
    EXPECT_EQ(survivors(merged), survivors(truth)) << trial;
    EXPECT_EQ(merged.completed_lifetimes, truth.completed_lifetimes) << trial;
    EXPECT_EQ(merged.max_completed_lifetime_steps, truth.max_completed_lifetime_steps) << trial;
    EXPECT_EQ(merged.born_objects, truth.born_objects) << trial;
    EXPECT_EQ(merged.born_bytes, truth.born_bytes) << trial;
    EXPECT_EQ(merged.died_objects, truth.died_objects) << trial;
    EXPECT_EQ(merged.died_bytes, truth.died_bytes) << trial;
    EXPECT_GE(merged.birth_steps, truth.birth_steps) << trial;
    if (truth.born_objects > 0) {
      EXPECT_EQ(merged.first_birth, truth.first_birth) << trial;
      EXPECT_EQ(merged.last_birth, truth.last_birth) << trial;
    }
    uint64_t merged_deaths = 0, true_deaths = 0;
    for (const Deaths& deaths : merged.deaths) merged_deaths += deaths.objects;
    for (const Deaths& deaths : truth.deaths) true_deaths += deaths.objects;
    EXPECT_EQ(merged_deaths, true_deaths) << trial;
    if (merged.death_bin_steps == truth.death_bin_steps) {
      EXPECT_EQ(merged.deaths.size(), truth.deaths.size()) << trial;
    }
  }
}

}  // namespace
}  // namespace vramtrack
