// SPDX-License-Identifier: Apache-2.0
//
// A finished file is one protobuf message, whatever wrote it.
#include <gtest/gtest.h>

#include <string>

#include "proto/testing/random_trace.h"
#include "proto/trace.pb.h"

namespace vramtrack {
namespace {

uint64_t CountOf(const RandomTrace& random) {
  uint64_t count = 0;
  for (const auto& [thread, events] : random.events) count += events.size();
  return count;
}

TEST(StockProtobuf, ParsesAFinishedFile) {
  for (const bool killed : {false, true}) {
    SCOPED_TRACE(killed);
    RandomTrace random(11, 30000, 4);
    const std::string file = killed ? random.trace.Kill() : random.trace.Finish();
    format::Trace trace;
    ASSERT_TRUE(trace.ParseFromString(file));
    EXPECT_EQ(trace.header().magic(), kMagic);
    EXPECT_EQ(trace.header().version(), kFormatVersion);
    EXPECT_EQ(trace.header().counters_size(), static_cast<int>(kHeaderCounters));
    EXPECT_EQ(trace.header().counters(format::COUNTER_FINISHED), killed ? 0 : 1);
    EXPECT_EQ(trace.has_trailer(), !killed);
    uint64_t events = 0, allocations = 0, stacks = 0, processes = 0;
    for (const format::Block& block : trace.blocks()) {
      EXPECT_EQ(block.sync(), kSync);
      EXPECT_EQ(block.event_shape_size(), static_cast<int>(block.event_count()));
      EXPECT_EQ(block.event_time_size(), static_cast<int>(block.event_count()));
      EXPECT_EQ(block.allocation_address_size(), static_cast<int>(block.allocation_count()));
      events += block.event_count();
      allocations += block.allocation_count();
      const format::Definitions& definitions = block.definitions();
      stacks += static_cast<uint64_t>(definitions.stacks_size() + definitions.python_stacks_size() +
                                      definitions.joined_stacks_size());
      for (const format::PythonStack& stack : definitions.python_stacks()) {
        EXPECT_EQ(stack.code_size(), stack.instruction_size());
      }
      if (!definitions.has_process()) continue;
      ++processes;
      EXPECT_EQ(definitions.process().pid(), 4242u);
      EXPECT_EQ(definitions.process().command(1), "--flag");
      EXPECT_EQ(definitions.process().rank(), 3);
    }
    EXPECT_EQ(processes, 1u);
    if (killed) {
      EXPECT_GT(trace.journals_size(), 0);
      EXPECT_LT(events, CountOf(random));
    } else {
      EXPECT_EQ(events, CountOf(random));
      EXPECT_EQ(trace.trailer().events(), events);
      EXPECT_EQ(stacks, random.stacks);
      EXPECT_GT(allocations, 0u);
    }
  }
}

}  // namespace
}  // namespace vramtrack
