// SPDX-License-Identifier: Apache-2.0
//
// Blocks of PyTorch's caching allocator, in every form in which it has told of them: each is in the trace once, and the
// library that the allocator reports to is told of each as if nobody listened. Without PyTorch: programs/ has libraries
// of the same names and functions.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

std::string PathOf(const std::string& library) {
  char here[4096];
  return std::string(getcwd(here, sizeof here)) + "/" + getenv("PROGRAMS") + "/" + library;
}

struct Events {
  uint64_t segments = 0, allocations = 0, frees = 0, unknown_frees = 0, without_stack = 0, inside_segment = 0;
  uint64_t live_bytes = 0;
  std::vector<std::pair<uint64_t, uint64_t>> told;           // bytes given out, reserved
  std::vector<std::pair<uint64_t, uint64_t>> out_of_memory;  // error, bytes
  std::map<std::string, uint32_t> unseen;
};

Events Read(const RunResult& run) {
  Events events;
  if (run.traces.size() != 1) {
    ADD_FAILURE() << run.traces.size() << " traces; " << run.err;
    return events;
  }
  auto trace = Trace::Open(run.traces[0]);
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status();
    return events;
  }
  events.unseen = (*trace)->definitions().process.unseen;
  std::map<AllocationName, uint64_t> live;
  uint64_t segment = 0, segment_bytes = 0;
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    const bool block = event.shape->kind == schema::FRAMEWORK_BLOCK;
    if (event.operation == schema::ALLOCATE && event.shape->kind == schema::DEVICE) {
      ++events.segments;
      segment = event.address;
      segment_bytes = event.shape->bytes;
    } else if (event.operation == schema::ALLOCATE && block) {
      ++events.allocations;
      EXPECT_EQ(event.shape->device, 0u);
      events.without_stack += event.shape->ref == 0;
      events.inside_segment += event.address - segment < segment_bytes;
      live[{event.owner, event.ordinal}] = event.shape->bytes;
    } else if (event.operation == schema::FREE && block) {
      ++events.frees;
      EXPECT_EQ(live.erase({event.owner, event.ordinal}), 1u);
    } else if (event.operation == schema::FREE_UNKNOWN) {
      ++events.unknown_frees;
    } else if (event.operation == schema::FRAMEWORK_MEMORY) {
      events.told.emplace_back(event.value[0], event.value[1]);
    } else if (event.operation == schema::FAIL && block) {
      EXPECT_NE(event.shape->ref, 0u);
      events.out_of_memory.emplace_back(event.value[0], event.shape->bytes);
    }
  }
  for (const auto& [identity, bytes] : live) events.live_bytes += bytes;
  EXPECT_EQ((*trace)->lost_events(), 0u);
  return events;
}

constexpr uint64_t kSegmentBytes = 8 << 20, kBlockBytes = 4096;

struct Pair {
  const char* folder;
  const char* library;
  int failures;  // that the generation tells of
  bool tells_memory;
};
const Pair kGeneration1 = {"generation1", "libc10_cuda.so", 0, false};
const Pair kGeneration2 = {"generation2", "libc10_cuda.so", 1, true};
const Pair kGeneration3 = {"generation3", "libc10_cuda.so", 1, true};
const Pair kRepackaged = {"repackaged", "libc10_cuda-1d0c5f2a.so", 1, true};

std::string Library(const Pair& pair) { return PathOf(std::string(pair.folder) + "/" + pair.library); }

// What the library was told: allocations (one of them a second time), frees, failures (of any device), the host's.
std::string Told(const Pair& pair) {
  return "11 4 " + std::to_string(2 * pair.failures) + " 100 " + std::to_string(7 * kBlockBytes) + "\n";
}

class BlocksTest : public ::testing::TestWithParam<Pair> {};

TEST_P(BlocksTest, EachOnceAndPassedOn) {
  const Pair& pair = GetParam();
  RunOptions untraced;
  untraced.traced = false;
  EXPECT_EQ(RunProgram("use_blocks", {Library(pair)}, untraced).out, Told(pair));

  const RunResult run = RunProgram("use_blocks", {Library(pair)});
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(run.out, Told(pair));
  const Events events = Read(run);
  EXPECT_EQ(events.segments, 1u);
  // Ten blocks; the one of the replay takes the place of what was there, which is a free and an allocation.
  EXPECT_EQ(events.allocations, 11u);
  EXPECT_EQ(events.inside_segment, 11u);
  EXPECT_EQ(events.frees, 5u);
  EXPECT_EQ(events.unknown_frees, 0u);
  EXPECT_EQ(events.without_stack, 0u);
  EXPECT_EQ(events.live_bytes, 6 * kBlockBytes);
  // Once when the segment was taken, and once more for a failure.
  std::vector<std::pair<uint64_t, uint64_t>> told, failed;
  if (pair.tells_memory) told.emplace_back(kBlockBytes, kSegmentBytes);
  for (int i = 0; i < pair.failures; ++i) {
    told.emplace_back(7 * kBlockBytes, kSegmentBytes);
    failed.emplace_back(2, 1 << 30);
  }
  EXPECT_EQ(events.told, told);
  EXPECT_EQ(events.out_of_memory, failed);
  EXPECT_TRUE(events.unseen.empty());
}

INSTANTIATE_TEST_SUITE_P(All, BlocksTest, ::testing::Values(kGeneration1, kGeneration2, kGeneration3, kRepackaged),
                         [](const auto& info) { return std::string(info.param.folder); });

TEST(TwoCopiesTest, EachReportsToItsOwn) {
  const RunResult run = RunProgram("use_blocks", {Library(kGeneration3), Library(kRepackaged)});
  EXPECT_EQ(run.out, Told(kGeneration3) + Told(kRepackaged));
  const Events events = Read(run);
  EXPECT_EQ(events.allocations, 22u);
  EXPECT_EQ(events.live_bytes, 12 * kBlockBytes);
  EXPECT_TRUE(events.unseen.empty());
}

TEST(TwoCopiesTest, OneOfThemBoundPastTheHooks) {
  const RunResult run = RunProgram("use_blocks", {Library(kRepackaged), "--deepbind", Library(kGeneration3)});
  EXPECT_EQ(run.out, Told(kRepackaged) + Told(kGeneration3));
  const Events events = Read(run);
  EXPECT_EQ(events.allocations, 22u);
  EXPECT_EQ(events.live_bytes, 12 * kBlockBytes);
  ASSERT_EQ(events.unseen.size(), 1u);
  EXPECT_EQ(events.unseen.begin()->second, schema::UNSEEN_DEEPBIND);
}

TEST(UnknownGenerationTest, IsNamedOnceAndTheDriverIsSeen) {
  const RunResult run = RunProgram("use_blocks", {PathOf("to_come/libc10_cuda.so")});
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.out, "11 4 0 100 28672\n");
  const Events events = Read(run);
  EXPECT_EQ(events.segments, 1u);
  EXPECT_EQ(events.allocations, 0u);
  const std::map<std::string, uint32_t> expected = {{"libc10_cuda.so", schema::UNSEEN_BLOCKS}};
  EXPECT_EQ(events.unseen, expected);
}

}  // namespace
}  // namespace vramtrack
