// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/process_description.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <utility>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kStepTicks = 20000000;  // nanoseconds

// A job of so many steps. `resident(step)` is read once in every `steps_per_reading` steps (0: never), and
// `pinned(step)` bytes are pinned in each.
ProcessFindings Job(uint64_t steps, const std::function<uint64_t(uint64_t)>& resident, uint64_t steps_per_reading = 1,
                    const std::function<uint64_t(uint64_t)>& pinned = nullptr) {
  JobBuilder job;
  job.NumberSteps(1);
  for (uint64_t step = 0; step < steps; ++step) {
    const JobObject brief = job.Allocate(1, kMiB);
    if (pinned != nullptr) job.Allocate(1, pinned(step), schema::PINNED);
    job.Free(brief);
    job.Pass(kStepTicks);
    if (steps_per_reading != 0 && step % steps_per_reading == 0) {
      job.trace().DefineHostReading(0, job.now(), resident(step), 3 * kMiB);
    }
    job.EndStep();
  }
  return FindInJob(&job);
}

TEST(HostFindings, GrowthOfResidentMemoryIsFoundToTheByte) {
  const ProcessFindings job = Job(200, [](uint64_t step) { return 500 * kMiB + step * kMiB; });
  ASSERT_TRUE(job.host);
  EXPECT_EQ(job.host->pid, 4711u);
  EXPECT_EQ(job.host->readings, 200u);
  EXPECT_EQ(job.host->resident.first, 500 * kMiB);
  EXPECT_EQ(job.host->resident.last, 699 * kMiB);
  EXPECT_EQ(job.host->resident.peak, 699 * kMiB);
  EXPECT_EQ(job.host->shared, 3 * kMiB);
  ASSERT_TRUE(job.host->resident.grows());
  EXPECT_EQ(job.host->resident.growth->bytes_per_step, kMiB);
  ASSERT_EQ(job.host->step.size(), 100u);  // two readings each
  EXPECT_EQ(job.host->step[1], 3);         // the third step, which the job calls so
  EXPECT_EQ(job.host->resident.low.size(), 100u);
  EXPECT_EQ(job.host->resident.high.back(), 699 * kMiB);
  EXPECT_FALSE(job.host->pinned.grows());
}

TEST(HostFindings, FewReadingsOfManySteps) {
  const ProcessFindings job = Job(
      2000, [](uint64_t step) { return 500 * kMiB + step * 100000; }, 25);
  ASSERT_TRUE(job.host && job.host->resident.grows());
  EXPECT_NEAR(job.host->resident.growth->bytes_per_step, 100000, 100);
  EXPECT_EQ(job.host->step.size(), 40u);
}

TEST(HostFindings, WhatIsNoGrowthIsNotCalledSo) {
  std::mt19937_64 random(7);
  const std::pair<const char*, std::function<uint64_t(uint64_t)>> jobs[] = {
      {"constant", [](uint64_t) { return 900 * kMiB; }},
      {"noise", [&](uint64_t) { return 900 * kMiB + random() % (20 * kMiB); }},
      {"warm-up", [](uint64_t step) { return 900 * kMiB + std::min<uint64_t>(step, 60) * kMiB; }},
      {"a cache that fills", [](uint64_t step) { return 900 * kMiB + 400 * kMiB * step / (step + 60); }},
      {"one stair", [](uint64_t step) { return (step < 150 ? 900 : 1200) * kMiB; }},
      {"hardly anything", [](uint64_t step) { return 900 * kMiB + step * 4096; }},
      {"it becomes less", [](uint64_t step) { return 900 * kMiB - step * kMiB; }},
      {"a wave", [](uint64_t step) { return 900 * kMiB + step % 50 * kMiB; }},
  };
  for (const auto& [name, resident] : jobs) {
    const ProcessFindings job = Job(300, resident);
    ASSERT_TRUE(job.host);
    EXPECT_FALSE(job.host->resident.grows())
        << name << ": " << job.host->resident.growth->bytes_per_step << " " << job.host->resident.growth->refused;
  }
}

TEST(HostFindings, PinnedMemoryIsThatOfItsAllocations) {
  const ProcessFindings job = Job(
      200, [](uint64_t) { return 900 * kMiB; }, 1, [](uint64_t) { return 64 << 10; });
  ASSERT_TRUE(job.host);
  EXPECT_EQ(job.host->pinned.last, 200u * (64 << 10));
  ASSERT_TRUE(job.host->pinned.grows());
  EXPECT_EQ(job.host->pinned.growth->bytes_per_step, 64 << 10);
}

TEST(HostFindings, WithoutReadingsThereIsNothingToSay) {
  EXPECT_FALSE(Job(
                   20, [](uint64_t) { return kMiB; }, 0)
                   .host);
}

}  // namespace
}  // namespace vramtrack
