// SPDX-License-Identifier: Apache-2.0
//
// Blocks of a pool that describes them with NVTX's memory extension are in the trace, and the leak among them is found.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

TEST(NvtxPool, BlocksAreRecorded) {
  RunOptions untraced;
  untraced.traced = false;
  const std::string expected = RunProgram("use_nvtx_pool", {}, untraced).out;
  if (expected == "without NVTX\n") GTEST_SKIP() << "this toolkit has no nvtx3/nvToolsExtMem.h";
  char here[4096];
  RunOptions traced;
  traced.environment["NVTX_INJECTION64_PATH"] =
      std::string(getcwd(here, sizeof here)) + "/" + getenv("PRELOAD_LIBRARY");
  const RunResult run = RunProgram("use_nvtx_pool", {}, traced);
  EXPECT_EQ(run.wait_status, 0) << run.err;
  EXPECT_EQ(run.out, expected);
  ASSERT_EQ(run.traces.size(), 1u) << run.err;
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok()) << trace.status();
  std::map<uint64_t, uint64_t> allocated;  // blocks by their size
  std::map<AllocationName, uint64_t> live;
  std::map<std::string, uint64_t> names;  // with the size of the block
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    if (event.operation == schema::MARK && event.shape->kind == schema::MARK_MEMORY_NAME) {
      const auto name = (*trace)->definitions().names.find(static_cast<uint32_t>(event.value[0]));
      ASSERT_NE(name, (*trace)->definitions().names.end());
      const ThreadSlot slot = (*trace)->SlotOf(static_cast<uint32_t>((event.value[1] - 1) >> 40));
      const auto of = live.find({slot, (event.value[1] - 1) & ((uint64_t{1} << 40) - 1)});
      ++names[name->second + (of == live.end() ? "" : " " + std::to_string(of->second))];
    }
    if (event.operation == schema::FREE_UNKNOWN) ADD_FAILURE() << "a block is freed that was not allocated";
    if (event.shape->kind != schema::FRAMEWORK_BLOCK || event.operation == schema::MARK) continue;
    EXPECT_EQ(event.shape->device, 0u);
    if (event.operation == schema::ALLOCATE) {
      EXPECT_NE(event.shape->ref, 0u) << "without a stack";
      ++allocated[event.shape->bytes];
      live[{event.owner, event.ordinal}] = event.shape->bytes;
    } else if (event.operation == schema::FREE) {
      EXPECT_EQ(live.erase({event.owner, event.ordinal}), 1u);
    }
  }
  EXPECT_EQ(allocated,
            (std::map<uint64_t, uint64_t>{{10000, 200}, {1000, 1}, {2000, 1}, {3000, 1}, {100, 1000}, {512, 10}}));
  EXPECT_EQ(names,
            (std::map<std::string, uint64_t>{{"engine:scores of step # 10000", 50}, {"engine:all of it 10000", 1}}));
  EXPECT_EQ(live.size(), 50u) << "one of each step";
  std::vector<std::string> allocators;
  for (const TracedAllocator& one : (*trace)->definitions().allocators) {
    allocators.push_back(one.framework + " " + one.name + " " + std::to_string(one.device));
  }
  EXPECT_EQ(allocators, (std::vector<std::string>{"NVTX activations 0", "NVTX pool 0"}));
}

}  // namespace
}  // namespace vramtrack
