// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/rising_steps.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "proto/trace_builder.h"

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
  TraceBuilder trace;
  trace.DefineProcess(0, 4711, {"./job"});
  trace.DefineDevice(0, 0, "Emulated", uint64_t{64} << 30);
  trace.DefineModule(0, 1, "/nowhere/job", 0x400000, 0x400000, 0x500000);
  for (uint32_t stack = 1; stack < 4; ++stack) trace.DefineStack(0, stack, {0x400000 + stack * 0x100});
  uint64_t time = 1000, address = uint64_t{1} << 40;
  const auto allocate = [&](uint32_t stack, uint64_t bytes) {
    address += uint64_t{1} << 30;
    return trace.Allocate(0, ++time, schema::DEVICE, 0, stack, address, bytes);
  };
  const auto release = [&](AllocationId id) { trace.Free(0, ++time, schema::DEVICE, 0, id); };
  AllocationId buffer = allocate(1, kMiB);
  for (uint64_t step = 0; step < kSteps; ++step) {
    const Sizes of = sizes(step);
    release(allocate(2, 64 * kMiB));
    release(buffer);
    buffer = allocate(1, of.buffer);
    release(allocate(2, 64 * kMiB));
    if (of.left > 0) allocate(3, of.left);
    trace.Step(0, time += 1000000, step);
  }
  const std::string bytes = trace.Finish();
  absl::StatusOr<std::unique_ptr<Trace>> read = Trace::Read(bytes, "job.vtrace");
  EXPECT_TRUE(read.ok());
  return FindInProcess(**read, {}).unsure;
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
