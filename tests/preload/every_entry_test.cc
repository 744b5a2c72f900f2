// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

TEST(EveryEntryTest, IsRecordedOnceAndFreedOnce) {
  const RunResult run = RunProgram("every_entry", {});
  ASSERT_EQ(run.wait_status, 0) << run.out << run.err;
  ASSERT_EQ(run.err, "");
  ASSERT_EQ(run.traces.size(), 1u);
  const TraceCounts counts = Count(run.traces[0]);
  EXPECT_TRUE(counts.finished);
  EXPECT_EQ(counts.lost_events, 0u);
  // 4 device, 3 arrays, 2 stream-ordered, 3 host, 1 left; 1 pool, 3 streams, 2 events, 3 graphs, 2 executables.
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 24u);
  EXPECT_EQ(counts.operations.at(schema::FREE), 23u);
  EXPECT_EQ(counts.operations.count(schema::FREE_UNKNOWN), 0u);
  EXPECT_EQ(counts.operations.count(schema::FAIL), 0u);
  EXPECT_EQ(counts.operations.at(schema::STEP), 1u);
  EXPECT_EQ(counts.operations.at(schema::MEMORY_INFO), 1u);
  ASSERT_EQ(counts.live_objects.size(), 1u);
  EXPECT_EQ(counts.live_bytes.at(schema::DEVICE), 12345u);
}

TEST(EveryEntryTest, SizesAndKindsAreThoseOfTheCalls) {
  const RunResult run = RunProgram("every_entry", {});
  ASSERT_EQ(run.traces.size(), 1u);
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok());
  std::map<uint32_t, std::vector<uint64_t>> bytes;
  EventStream stream(**trace);
  StreamEvent event;
  while (stream.Next(&event)) {
    if (event.operation == schema::ALLOCATE) bytes[event.shape->kind].push_back(event.shape->bytes);
  }
  EXPECT_EQ(bytes[schema::DEVICE], (std::vector<uint64_t>{1000, 12345}));
  ASSERT_EQ(bytes[schema::PITCHED].size(), 2u);
  EXPECT_GE(bytes[schema::PITCHED][0], 100u * 10);  // rows are padded to the pitch
  EXPECT_EQ(bytes[schema::PITCHED][0] % 10, 0u);
  EXPECT_GE(bytes[schema::PITCHED][1], 64u * 8 * 4);
  EXPECT_EQ(bytes[schema::MANAGED], std::vector<uint64_t>{5000});
  EXPECT_EQ(bytes[schema::ARRAY], (std::vector<uint64_t>{64 * 32 * 8, 16 * 16 * 16 * 8}));
  EXPECT_EQ(bytes[schema::MIPMAPPED_ARRAY], std::vector<uint64_t>{(64 * 64 + 32 * 32 + 16 * 16 + 8 * 8) * 8});
  EXPECT_EQ(bytes[schema::STREAM_ORDERED], std::vector<uint64_t>{3000});
  EXPECT_EQ(bytes[schema::POOL], std::vector<uint64_t>{4000});
  EXPECT_EQ(bytes[schema::PINNED], (std::vector<uint64_t>{700, 800}));
  EXPECT_EQ(bytes[schema::REGISTERED], std::vector<uint64_t>{8192});
  EXPECT_EQ(bytes[schema::STREAM], (std::vector<uint64_t>{0, 0, 0}));
  const Definitions& definitions = (*trace)->definitions();
  EXPECT_EQ(definitions.devices.at(0).name, "Simulated GPU");
  EXPECT_GT(definitions.devices.at(0).total_bytes, 0u);
  EXPECT_GT(definitions.process.versions.at("cudart"), 11000u);
}

TEST(EveryEntryTest, WithoutStacksEventsAreTheSame) {
  RunOptions options;
  options.environment["VRAMTRACK_STACKS"] = "none";
  const RunResult with = RunProgram("every_entry", {});
  const RunResult without = RunProgram("every_entry", {}, options);
  ASSERT_EQ(with.traces.size(), 1u);
  ASSERT_EQ(without.traces.size(), 1u);
  EXPECT_EQ(Count(without.traces[0]).operations, Count(with.traces[0]).operations);
  auto with_trace = Trace::Open(with.traces[0]), without_trace = Trace::Open(without.traces[0]);
  EXPECT_GE((*with_trace)->counter(schema::COUNTER_STACKS), 20u);
  EXPECT_EQ((*without_trace)->counter(schema::COUNTER_STACKS), 0u);
}

}  // namespace
}  // namespace vramtrack
