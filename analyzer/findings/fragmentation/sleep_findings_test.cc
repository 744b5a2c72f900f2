// SPDX-License-Identifier: Apache-2.0
//
// What lives through a sleep, in traces where that is known.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kBase = uint64_t{1} << 44;

// A server whose cache, a block of 64 MiB in two mappings of 32 MiB, sleeps after each step.
class Server : public JobBuilder {
 public:
  explicit Server(bool with_blocks) {
    Device(4096 * kMiB);
    AllocateAt(1, kBase, 64 * kMiB, schema::ADDRESS_RANGE);
    Wake();
    if (with_blocks) BlockAt(3, kBase, 64 * kMiB);
  }

  void Sleep() {
    Mark(schema::MARK_RELEASE, 4);
    for (const JobMapping& half : cache_) Free(half.mapping);
    Mark(schema::MARK_RELEASE, 5);
    for (const JobMapping& half : cache_) Free(half.memory);
  }
  void Wake() { cache_ = {Map(2, kBase, 32 * kMiB), Map(2, kBase + 32 * kMiB, 32 * kMiB)}; }
  // Memory of a library, which does not sleep.
  void Keep(uint64_t bytes) { Allocate(6, bytes); }
  // A segment of the framework with one block, for whole steps.
  void Block(uint64_t bytes) { BlockAt(8, Allocate(7, 2 * bytes).address, bytes); }
  void Step(uint64_t number) {
    Pass(1000000);
    NumberSteps(number);
    EndStep();
  }
  ProcessFindings Find() { return FindInJob(this); }

 private:
  std::vector<JobMapping> cache_;
};

TEST(SleepFindings, SayWhatGrowsFromCycleToCycle) {
  for (const bool with_blocks : {false, true}) {
    Server server(with_blocks);
    for (uint64_t cycle = 0; cycle < 5; ++cycle) {
      server.Keep(4 * kMiB);
      server.Sleep();
      server.Wake();
      server.Step(cycle);
    }
    const ProcessFindings findings = server.Find();
    ASSERT_EQ(findings.process.sleeps.size(), 1u);
    const ReportSleep& sleep = findings.process.sleeps[0];
    EXPECT_EQ(sleep.cycles, 5u);
    EXPECT_EQ(sleep.released_bytes, 64 * kMiB);
    EXPECT_EQ(sleep.first_bytes, 4 * kMiB);
    EXPECT_EQ(sleep.last_bytes, 20 * kMiB);
    ASSERT_TRUE(sleep.bytes_per_cycle.has_value());
    EXPECT_DOUBLE_EQ(*sleep.bytes_per_cycle, 4.0 * kMiB);
    ASSERT_EQ(sleep.lines.size(), 1u);
    EXPECT_EQ(sleep.lines[0].level, Level::kDriver);
    EXPECT_EQ(sleep.lines[0].last_bytes, 20 * kMiB);
    EXPECT_DOUBLE_EQ(sleep.lines[0].bytes_per_cycle.value_or(0), 4.0 * kMiB);
  }
}

TEST(SleepFindings, CountBlocksAndSegments) {
  Server server(/*with_blocks=*/true);
  for (uint64_t cycle = 0; cycle < 20; ++cycle) {
    if (cycle == 0) server.Keep(10 * kMiB);
    server.Block(2 * kMiB);
    server.Sleep();
    server.Wake();
    server.Step(cycle);
  }
  const ProcessFindings findings = server.Find();
  ASSERT_EQ(findings.process.sleeps.size(), 1u);
  const ReportSleep& sleep = findings.process.sleeps[0];
  EXPECT_EQ(sleep.cycles, 20u);
  EXPECT_EQ(sleep.last_bytes, (10 + 20 * 4) * kMiB);
  EXPECT_DOUBLE_EQ(sleep.bytes_per_cycle.value_or(0), 4.0 * kMiB);
  ASSERT_EQ(sleep.lines.size(), 2u);
  EXPECT_EQ(sleep.lines[0].level, Level::kFramework);
  EXPECT_EQ(sleep.lines[0].last_bytes, 40 * kMiB);
  EXPECT_DOUBLE_EQ(sleep.lines[0].bytes_per_cycle.value_or(0), 2.0 * kMiB);
  EXPECT_EQ(sleep.lines[1].last_bytes, 10 * kMiB);
  EXPECT_DOUBLE_EQ(sleep.lines[1].bytes_per_cycle.value_or(1), 0);
}

// An expandable segment maps memory where it had some, but no block is there at the time.
TEST(SleepFindings, MemoryOfTheLineThatWakesButDoesNotSleepIsHeld) {
  for (const bool with_blocks : {false, true}) {
    Server server(with_blocks);
    server.AllocateAt(1, 2 * kBase, 64 * kMiB, schema::ADDRESS_RANGE);
    server.Map(2, 2 * kBase, 8 * kMiB);  // as the cache's
    for (uint64_t cycle = 0; cycle < 3; ++cycle) {
      server.Sleep();
      server.Wake();
      server.Step(cycle);
    }
    const ProcessFindings findings = server.Find();
    ASSERT_EQ(findings.process.sleeps.size(), 1u);
    const ReportSleep& sleep = findings.process.sleeps[0];
    EXPECT_EQ(sleep.cycles, 3u);
    EXPECT_EQ(sleep.last_bytes, 8 * kMiB);
    ASSERT_EQ(sleep.lines.size(), 1u);
    EXPECT_EQ(sleep.lines[0].last_bytes, 8 * kMiB);
  }
}

TEST(SleepFindings, ExpandableSegmentsDoNotSleep) {
  JobBuilder job;
  job.Device(4096 * kMiB);
  job.AllocateAt(1, kBase, 64 * kMiB, schema::ADDRESS_RANGE);
  for (uint64_t step = 0; step < 30; ++step) {
    const JobMapping segment = job.Map(2, kBase, 20 * kMiB);
    job.Free(job.BlockAt(3, kBase, 16 * kMiB));
    job.Free(segment.mapping);
    job.Free(segment.memory);
    job.Pass(1000000);
    job.EndStep();
  }
  EXPECT_TRUE(FindInJob(&job).process.sleeps.empty());
}

}  // namespace
}  // namespace vramtrack
