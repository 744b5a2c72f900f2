// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/rising_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kSteps = 120;

// Each step works with 64 MiB, keeps `left` bytes for good, and replaces a buffer by one of `buffer` bytes, which is
// freed before the new one is made.
struct Sizes {
  uint64_t buffer = 0, left = 0;
};

std::vector<std::string> Unsure(const std::function<Sizes(uint64_t step)>& sizes) {
  JobBuilder job;
  job.Device(uint64_t{64} << 30);
  JobObject buffer = job.Allocate(1, kMiB);
  for (uint64_t step = 0; step < kSteps; ++step) {
    const Sizes of = sizes(step);
    job.Free(job.Allocate(2, 64 * kMiB));
    job.Free(buffer);
    buffer = job.Allocate(1, of.buffer);
    job.Free(job.Allocate(2, 64 * kMiB));
    if (of.left > 0) job.Allocate(3, of.left);
    job.Pass(1000000);
    job.EndStep();
  }
  return FindInJob(&job).unsure;
}

TEST(RisingSteps, ABufferIsFreedAndMadeLarger) {
  const std::vector<std::string> unsure = Unsure([](uint64_t step) { return Sizes{(8 + step) * kMiB}; });
  ASSERT_EQ(unsure.size(), 1u);
  EXPECT_NE(unsure[0].find("need more and more memory: 1.00 MiB per step"), std::string::npos) << unsure[0];
  EXPECT_NE(unsure[0].find("objects that get larger, from job+0x"), std::string::npos) << unsure[0];
}

TEST(RisingSteps, OneThatHasStoppedGrowingIsFine) {
  EXPECT_TRUE(Unsure([](uint64_t step) { return Sizes{(8 + std::min<uint64_t>(step, 70)) * kMiB}; }).empty());
}

TEST(RisingSteps, SizesThatVaryAreFine) {
  std::mt19937_64 random(7);
  EXPECT_TRUE(Unsure([&random](uint64_t) { return Sizes{(8 + random() % 64) * kMiB}; }).empty());
}

TEST(RisingSteps, ALastPhaseThatNeedsMoreIsFine) {
  std::mt19937_64 random(11);
  const auto size = [&random](uint64_t step) { return Sizes{(step < 100 ? 32 : 80) * kMiB + random() % (16 * kMiB)}; };
  EXPECT_TRUE(Unsure(size).empty());
}

TEST(RisingSteps, SizesThatVaryAndGrowAreFound) {
  std::mt19937_64 random(12);
  EXPECT_EQ(Unsure([&random](uint64_t step) { return Sizes{(8 + step + random() % 16) * kMiB}; }).size(), 1u);
}

TEST(RisingSteps, WhatStaysIsALeak) {
  EXPECT_TRUE(Unsure([](uint64_t) { return Sizes{8 * kMiB, kMiB}; }).empty());
}

}  // namespace
}  // namespace vramtrack
