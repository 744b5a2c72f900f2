// SPDX-License-Identifier: Apache-2.0
//
// What lives through a sleep, in traces where that is known.
#include "analyzer/findings/fragmentation/sleep_findings.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kBase = uint64_t{1} << 44, kElsewhere = uint64_t{1} << 42;

// A server whose cache, a block of 64 MiB in two mappings of 32 MiB, sleeps after each step.
class Server {
 public:
  explicit Server(bool with_blocks) : with_blocks_(with_blocks) {
    trace_.DefineProcess(0, 4711, {"./server"});
    trace_.DefineDevice(0, 0, "Emulated", 4096 * kMiB);
    for (uint32_t stack = 1; stack < 9; ++stack) trace_.DefineStack(0, stack, {0x400000 + stack * 0x100});
    range_ = trace_.Allocate(0, ++time_, schema::ADDRESS_RANGE, 0, 1, kBase, 64 * kMiB);
    Wake();
    if (with_blocks_) cache_ = trace_.Allocate(0, ++time_, schema::FRAMEWORK_BLOCK, 0, 3, kBase, 64 * kMiB);
  }

  void Sleep() {
    Mark(4);
    for (const AllocationId& mapping : mappings_) trace_.Free(0, ++time_, schema::MAPPING, 0, mapping);
    Mark(5);
    for (const AllocationId& memory : memory_) trace_.Free(0, ++time_, schema::PHYSICAL, 0, memory);
    mappings_.clear();
    memory_.clear();
  }
  void Wake() {
    for (uint64_t i = 0; i < 2; ++i) {
      const uint64_t handle = 0x5000 + 0x100 * ++handles_;
      last_handle_ = handle;
      memory_.push_back(trace_.Allocate(0, ++time_, schema::PHYSICAL, 0, 2, handle, 32 * kMiB));
      mappings_.push_back(trace_.Allocate(0, ++time_, schema::MAPPING, 0, 2, kBase + i * 32 * kMiB, 32 * kMiB, handle));
    }
  }
  // Memory of a library, which does not sleep.
  void Keep(uint64_t bytes) {
    trace_.Allocate(0, ++time_, schema::DEVICE, 0, 6, kElsewhere + kept_, bytes);
    kept_ += bytes;
  }
  // A segment of the framework with one block, for whole steps.
  void Block(uint64_t bytes) {
    trace_.Allocate(0, ++time_, schema::DEVICE, 0, 7, 2 * kElsewhere + blocks_, 2 * bytes);
    trace_.Allocate(0, ++time_, schema::FRAMEWORK_BLOCK, 0, 8, 2 * kElsewhere + blocks_, bytes);
    blocks_ += 2 * bytes;
  }
  void ReleaseAgain() {
    Mark(7);
    trace_.Event(0, ++time_, schema::FREE_UNKNOWN, schema::PHYSICAL, 0, 0, {last_handle_});
  }
  void Step(uint64_t number) { trace_.Step(0, time_ += 1000000, number); }

  ProcessFindings Find() {
    const std::string path = ::testing::TempDir() + "/sleep.vtrace";
    std::ofstream(path, std::ios::binary) << trace_.Finish();
    absl::StatusOr<std::unique_ptr<Trace>> opened = Trace::Open(path);
    EXPECT_TRUE(opened.ok());
    ProcessFindings findings = FindInProcess(**opened, {});
    remove(path.c_str());
    return findings;
  }

 private:
  void Mark(uint32_t stack) {
    trace_.Event(0, ++time_, schema::MARK, static_cast<schema::Kind>(schema::MARK_RELEASE), 0, stack, {0, 0});
  }

  const bool with_blocks_;
  TraceBuilder trace_;
  uint64_t time_ = 1000, handles_ = 0, last_handle_ = 0, kept_ = 0, blocks_ = 0;
  AllocationId range_, cache_;
  std::vector<AllocationId> mappings_, memory_;
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
    EXPECT_FALSE(sleep.asleep_at_end);
    ASSERT_EQ(sleep.times.size(), 5u);
    for (uint64_t i = 0; i < 5; ++i) {
      EXPECT_EQ(sleep.times[i].released_bytes, 64 * kMiB);
      EXPECT_EQ(sleep.times[i].held_bytes, (i + 1) * 4 * kMiB);
      EXPECT_EQ(sleep.times[i].cached_bytes, 0u);
    }
    ASSERT_TRUE(sleep.bytes_per_cycle.has_value());
    EXPECT_DOUBLE_EQ(*sleep.bytes_per_cycle, 4.0 * kMiB);
    EXPECT_FALSE(sleep.has_interval);
    ASSERT_EQ(sleep.lines.size(), 1u);
    EXPECT_EQ(sleep.lines[0].level, Level::kDriver);
    EXPECT_EQ(sleep.lines[0].first_bytes, 4 * kMiB);
    EXPECT_EQ(sleep.lines[0].last_bytes, 20 * kMiB);
    EXPECT_DOUBLE_EQ(sleep.lines[0].bytes_per_cycle.value_or(0), 4.0 * kMiB);
    EXPECT_TRUE(findings.process.repeated_frees.empty());
  }
}

TEST(SleepFindings, CountBlocksAndWhatIsFreeInSegments) {
  Server server(/*with_blocks=*/true);
  for (uint64_t cycle = 0; cycle < 20; ++cycle) {
    if (cycle == 0) server.Keep(10 * kMiB);
    server.Block(2 * kMiB);
    server.Sleep();
    server.Wake();
    server.Step(cycle);
  }
  server.Sleep();
  const ProcessFindings findings = server.Find();
  ASSERT_EQ(findings.process.sleeps.size(), 1u);
  const ReportSleep& sleep = findings.process.sleeps[0];
  EXPECT_EQ(sleep.cycles, 20u);
  EXPECT_TRUE(sleep.asleep_at_end);
  EXPECT_EQ(sleep.times[19].held_bytes, (10 + 20 * 4) * kMiB);
  EXPECT_EQ(sleep.times[19].cached_bytes, 20 * 2 * kMiB);
  EXPECT_DOUBLE_EQ(sleep.bytes_per_cycle.value_or(0), 4.0 * kMiB);
  EXPECT_TRUE(sleep.has_interval);
  ASSERT_EQ(sleep.lines.size(), 2u);
  EXPECT_EQ(sleep.lines[0].level, Level::kFramework);
  EXPECT_EQ(sleep.lines[0].last_bytes, 40 * kMiB);
  EXPECT_DOUBLE_EQ(sleep.lines[0].bytes_per_cycle.value_or(0), 2.0 * kMiB);
  EXPECT_EQ(sleep.lines[1].last_bytes, 10 * kMiB);
  EXPECT_DOUBLE_EQ(sleep.lines[1].bytes_per_cycle.value_or(1), 0);
}

// An expandable segment maps memory where it had some, but no block is there at the time.
TEST(SleepFindings, ExpandableSegmentsDoNotSleep) {
  TraceBuilder trace;
  trace.DefineProcess(0, 4711, {"./job"});
  trace.DefineDevice(0, 0, "Emulated", 4096 * kMiB);
  for (uint32_t stack = 1; stack < 5; ++stack) trace.DefineStack(0, stack, {0x400000 + stack * 0x100});
  uint64_t time = 1000;
  trace.Allocate(0, ++time, schema::ADDRESS_RANGE, 0, 1, kBase, 64 * kMiB);
  for (uint64_t step = 0; step < 30; ++step) {
    const uint64_t handle = 0x5000 + 0x100 * step;
    const AllocationId memory = trace.Allocate(0, ++time, schema::PHYSICAL, 0, 2, handle, 20 * kMiB);
    const AllocationId mapping = trace.Allocate(0, ++time, schema::MAPPING, 0, 2, kBase, 20 * kMiB, handle);
    const AllocationId block = trace.Allocate(0, ++time, schema::FRAMEWORK_BLOCK, 0, 3, kBase, 16 * kMiB);
    trace.Free(0, ++time, schema::FRAMEWORK_BLOCK, 0, block);
    trace.Free(0, ++time, schema::MAPPING, 0, mapping);
    trace.Free(0, ++time, schema::PHYSICAL, 0, memory);
    trace.Step(0, time += 1000000, step);
  }
  const std::string path = ::testing::TempDir() + "/expandable.vtrace";
  std::ofstream(path, std::ios::binary) << trace.Finish();
  absl::StatusOr<std::unique_ptr<Trace>> opened = Trace::Open(path);
  ASSERT_TRUE(opened.ok());
  EXPECT_TRUE(FindInProcess(**opened, {}).process.sleeps.empty());
  remove(path.c_str());
}

TEST(SleepFindings, NameBothCallsThatReleasedTheSameMemory) {
  Server server(/*with_blocks=*/true);
  server.Sleep();
  server.ReleaseAgain();
  server.ReleaseAgain();
  server.Wake();
  const ProcessFindings findings = server.Find();
  ASSERT_EQ(findings.process.repeated_frees.size(), 1u);
  const ReportRepeatedFree& repeated = findings.process.repeated_frees[0];
  EXPECT_EQ(repeated.kind, "physical");
  EXPECT_EQ(repeated.count, 2u);
  ASSERT_EQ(repeated.stack.size(), 1u);
  ASSERT_EQ(repeated.first_stack.size(), 1u);
  EXPECT_NE(repeated.stack[0].function, repeated.first_stack[0].function);
}

}  // namespace
}  // namespace vramtrack
