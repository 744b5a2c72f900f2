// SPDX-License-Identifier: Apache-2.0
//
// Blocks of TensorFlow's allocators: those of a device are in the trace, each once, and the real functions are called
// as if nobody listened. Without TensorFlow: programs/ has a library with the same functions. tools/test-tensorflow
// runs the real one.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

struct Seen {
  std::map<uint32_t, uint64_t> allocations, frees;  // of blocks, by device
  std::map<uint32_t, uint64_t> live_bytes;
  std::vector<uint64_t> failed;  // bytes
  std::map<std::string, uint64_t> ranges;
  uint64_t ends = 0;
  std::vector<std::string> allocators;
  std::map<std::string, uint32_t> unseen;
};

Seen SeenOf(const std::string& program, const std::map<std::string, std::string>& environment) {
  Seen seen;
  RunOptions untraced;
  untraced.traced = false;
  RunOptions traced;
  traced.environment = environment;
  const RunResult run = RunProgram(program, {}, traced);
  EXPECT_EQ(run.wait_status, 0) << run.err;
  EXPECT_EQ(run.out, RunProgram(program, {}, untraced).out);
  if (run.traces.size() != 1) {
    ADD_FAILURE() << run.traces.size() << " traces: " << run.err;
    return seen;
  }
  auto trace = Trace::Open(run.traces[0]);
  if (!trace.ok()) {
    ADD_FAILURE() << trace.status();
    return seen;
  }
  std::map<AllocationName, uint64_t> live;
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    const uint32_t device = event.shape->device;
    if (event.operation == schema::MARK) {
      const auto name = (*trace)->definitions().names.find(static_cast<uint32_t>(event.value[0]));
      if (event.shape->kind == schema::MARK_RANGE_PUSH && name != (*trace)->definitions().names.end()) {
        ++seen.ranges[name->second];
      }
      seen.ends += event.shape->kind == schema::MARK_RANGE_POP;
    }
    if (event.operation == schema::FREE_UNKNOWN) ADD_FAILURE() << "a block is freed that was not allocated";
    if (event.shape->kind != schema::FRAMEWORK_BLOCK || event.operation == schema::MARK) continue;
    if (event.operation == schema::ALLOCATE) {
      ++seen.allocations[device];
      seen.live_bytes[device] += event.shape->bytes;
      live[{event.owner, event.ordinal}] = event.shape->bytes;
    } else if (event.operation == schema::FREE) {
      ++seen.frees[device];
      seen.live_bytes[device] -= live[{event.owner, event.ordinal}];
    } else if (event.operation == schema::FAIL) {
      seen.failed.push_back(event.shape->bytes);
    }
  }
  for (const TracedAllocator& allocator : (*trace)->definitions().allocators) {
    seen.allocators.push_back(allocator.framework + " " + allocator.name + " " + std::to_string(allocator.device));
  }
  std::sort(seen.allocators.begin(), seen.allocators.end());
  seen.unseen = (*trace)->definitions().process.unseen;
  return seen;
}

TEST(TensorFlow, BlocksOfADeviceAreRecorded) {
  const Seen seen = SeenOf("use_tensorflow", {});
  // One of each step stays; one allocator of the same name came later.
  EXPECT_EQ(seen.allocations, (std::map<uint32_t, uint64_t>{{0, 201}}));
  EXPECT_EQ(seen.frees, (std::map<uint32_t, uint64_t>{{0, 101}}));
  EXPECT_EQ(seen.live_bytes, (std::map<uint32_t, uint64_t>{{0, 1024 + 99 * 5120}}))
      << "what the allocator gave out, which may be a larger block";
  EXPECT_EQ(seen.failed, std::vector<uint64_t>{1 << 20});
  EXPECT_EQ(seen.allocators, std::vector<std::string>{"TensorFlow GPU_0_bfc 0"});
  EXPECT_TRUE(seen.unseen.empty());
}

TEST(TensorFlow, FunctionsAreRanges) {
  const Seen seen = SeenOf("use_tensorflow", {});
  EXPECT_EQ(seen.ranges, (std::map<std::string, uint64_t>{{"step", 100}})) << "of all shapes, and no single operation";
  EXPECT_EQ(seen.ends, 100u);
}

TEST(TensorFlow, BlocksOfTheHostAreRecordedIfRequested) {
  const Seen seen = SeenOf("use_tensorflow", {{"VRAMTRACK_CPU_FRAMEWORKS", "1"}});
  // Those without the number of a device are of the host, but for pinned memory.
  EXPECT_EQ(seen.allocations, (std::map<uint32_t, uint64_t>{{0, 201}, {63, 100 + 1}}));
  EXPECT_EQ(seen.frees, (std::map<uint32_t, uint64_t>{{0, 101}, {63, 100 + 1}}));
  EXPECT_EQ(seen.allocators,
            (std::vector<std::string>{"TensorFlow GPU_ 63", "TensorFlow GPU_0_bfc 0", "TensorFlow cpu 63"}));
}

TEST(TensorFlow, OfAnotherFormIsSaidToBeUnseen) {
  const Seen seen = SeenOf("use_nameless_tensorflow", {});
  EXPECT_TRUE(seen.allocations.empty());
  ASSERT_EQ(seen.unseen.size(), 1u);
  EXPECT_EQ(seen.unseen.begin()->second, schema::UNSEEN_BLOCKS);
}

}  // namespace
}  // namespace vramtrack
