// SPDX-License-Identifier: Apache-2.0
//
// Which node of a graph is being evaluated is known however nodes are left, and the program does not notice. Without
// PyTorch: programs/torch_cpu.cc has functions of the same names.
#include <gtest/gtest.h>

#include <map>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr char kExpected[] = "inner\nouter\ndone\n";

TEST(GraphTest, TheNodeIsKnownHoweverNodesAreLeft) {
  RunOptions untraced;
  untraced.traced = false;
  ASSERT_EQ(RunProgram("use_graph", {}, untraced).out, kExpected);
  const RunResult run = RunProgram("use_graph", {});
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.out, kExpected);
  EXPECT_EQ(run.err, "");
  ASSERT_EQ(run.traces.size(), 1u);
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_TRUE((*trace)->definitions().process.unseen.empty());
  const TracedStacks& stacks = (*trace)->definitions().stacks;
  std::map<uint64_t, uint32_t> nodes, expected;
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    if (event.operation != schema::ALLOCATE || event.shape->kind != schema::DEVICE) continue;
    const uint64_t bytes = event.shape->bytes;
    nodes[bytes] = stacks.Get(stacks.Distinct(event.shape->ref)).node;
    expected[bytes] = bytes % 10;
  }
  EXPECT_EQ(nodes, expected);
  EXPECT_EQ(nodes.size(), 14u);
}

}  // namespace
}  // namespace vramtrack
