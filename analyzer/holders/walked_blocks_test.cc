// SPDX-License-Identifier: Apache-2.0
#include "analyzer/holders/walked_blocks.h"

#include <gtest/gtest.h>

#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

using schema::DEVICE;
using schema::FRAMEWORK_BLOCK;

struct Looked {
  std::vector<BlocksAtWalk> at;
  Sites sites;
};

Looked LookUp(TraceBuilder* trace) {
  const std::string file = trace->Finish();
  absl::StatusOr<std::unique_ptr<Trace>> opened = Trace::Read(file, "test");
  EXPECT_TRUE(opened.ok());
  const HolderWalks walks(**opened);
  WalkedBlocks blocks(walks);
  LedgerOptions options;
  options.observers = {&blocks};
  StepPlan plan;
  plan.mark_slot = ThreadSlot(0);
  Ledger ledger(**opened, plan, options);
  ledger.Replay();
  EXPECT_EQ(blocks.at().size(), walks.all().size());
  return {blocks.at(), ledger.sites()};
}

HolderWalkBuilder WalkTo(const std::vector<uint64_t>& addresses, uint64_t begin, uint64_t end, uint32_t number = 1) {
  HolderWalkBuilder walk(number, schema::HOLDERS_AT_GROWTH, begin, end);
  const uint32_t module = walk.Path(0, schema::HOLDER_MODULE, "__main__", "module");
  const uint32_t history = walk.Path(module, schema::HOLDER_ATTRIBUTE, "history", "list", addresses.size());
  for (const uint64_t address : addresses) walk.Block(address, history);
  return walk;
}

uint64_t BytesSeen(const BlocksAtWalk& at, bool seen) {
  uint64_t bytes = 0;
  for (const HeldBlocks& held : at.held) bytes += held.path.is_none() == seen ? 0 : held.bytes;
  return bytes;
}

TEST(WalkedBlocks, AreThoseThatAreLiveWhenTheWalkEnds) {
  TraceBuilder trace;
  const AllocationId freed = trace.Allocate(0, 10, FRAMEWORK_BLOCK, 0, 1, 0x1000, 1);
  trace.Allocate(0, 20, FRAMEWORK_BLOCK, 0, 1, 0x2000, 10);
  trace.Step(0, 30, 0);
  trace.Allocate(0, 40, FRAMEWORK_BLOCK, 0, 2, 0x3000, 100);
  trace.Free(0, 60, FRAMEWORK_BLOCK, 0, freed);                 // while the walk goes on
  trace.Allocate(0, 65, FRAMEWORK_BLOCK, 0, 2, 0x1000, 1000);   // at an address that the walk has met
  trace.Allocate(0, 80, FRAMEWORK_BLOCK, 0, 2, 0x4000, 10000);  // after it
  trace.HolderWalk(WalkTo({0x1000, 0x2000, 0x4000}, 50, 70));
  const Looked looked = LookUp(&trace);
  const BlocksAtWalk& at = looked.at[0];
  EXPECT_EQ(at.step, 1u);
  EXPECT_EQ(BytesSeen(at, true), 10u);
  EXPECT_EQ(BytesSeen(at, false), 100u);
  EXPECT_EQ(at.seen, 1u);
  EXPECT_EQ(at.absent, 2u);
}

TEST(WalkedBlocks, ALaterFreeIsNotCounted) {
  // The first event after the walk is a free, or an allocation.
  for (const bool free : {true, false}) {
    TraceBuilder trace;
    const AllocationId one = trace.Allocate(0, 10, FRAMEWORK_BLOCK, 0, 1, 0x1000, 1);
    trace.Allocate(0, 20, FRAMEWORK_BLOCK, 0, 1, 0x2000, 10);
    if (free) {
      trace.Free(0, 60, FRAMEWORK_BLOCK, 0, one);
    } else {
      trace.Allocate(0, 60, FRAMEWORK_BLOCK, 0, 1, 0x3000, 100);
    }
    trace.HolderWalk(WalkTo({0x1000, 0x2000, 0x3000}, 50, 50));
    const Looked looked = LookUp(&trace);
    EXPECT_EQ(BytesSeen(looked.at[0], true), 11u) << free;
    EXPECT_EQ(BytesSeen(looked.at[0], false), 0u) << free;
  }
}

TEST(WalkedBlocks, BlocksComeBeforeTheSegmentsThatBeginWithThem) {
  TraceBuilder trace;
  trace.Allocate(0, 10, DEVICE, 0, 1, 0x100000, 2 << 20);  // a segment
  trace.Allocate(0, 20, FRAMEWORK_BLOCK, 0, 2, 0x100000, 512);
  trace.Allocate(0, 30, DEVICE, 0, 3, 0x900000, 4096);  // of another library
  trace.HolderWalk(WalkTo({0x100000, 0x900000}, 50, 60));
  const Looked looked = LookUp(&trace);
  EXPECT_EQ(BytesSeen(looked.at[0], true), 512u + 4096u);
  EXPECT_EQ(BytesSeen(looked.at[0], false), 0u);
}

TEST(WalkedBlocks, EachWalkIsOfItsOwnMoment) {
  TraceBuilder trace;
  for (uint64_t step = 0; step < 10; ++step) {
    trace.Allocate(0, 100 * step + 10, FRAMEWORK_BLOCK, 0, 1, 0x1000 * (step + 1), 1);
    trace.Step(0, 100 * step + 50, step);
  }
  std::vector<uint64_t> all;
  for (uint64_t i = 1; i <= 10; ++i) all.push_back(0x1000 * i);
  trace.HolderWalk(WalkTo(all, 260, 270, 1));
  trace.HolderWalk(WalkTo(all, 760, 770, 2));
  trace.HolderWalk(WalkTo(all, 5000, 6000, 3));  // after the last event
  const Looked looked = LookUp(&trace);
  EXPECT_EQ(BytesSeen(looked.at[0], true), 3u);
  EXPECT_EQ(looked.at[0].step, 3u);
  EXPECT_EQ(BytesSeen(looked.at[1], true), 8u);
  EXPECT_EQ(looked.at[1].step, 8u);
  EXPECT_EQ(BytesSeen(looked.at[2], true), 10u);
}

TEST(WalkedBlocks, AModuleThatLostItsFileIsTheSame) {
  TraceBuilder trace;
  for (uint32_t number = 1; number <= 2; ++number) {
    HolderWalkBuilder walk(number, schema::HOLDERS_AT_EXIT, 50 * number, 50 * number);
    const char* file = number == 1 ? "/job/train.py" : "";
    const uint32_t module = walk.Path(0, schema::HOLDER_MODULE, "__main__", "module", 0, 1, file);
    walk.Block(0x1000, walk.Path(module, schema::HOLDER_ATTRIBUTE, "history", "list", 10));
    trace.HolderWalk(walk);
  }
  const std::string bytes = trace.Finish();
  absl::StatusOr<std::unique_ptr<Trace>> opened = Trace::Read(bytes, "test");
  ASSERT_TRUE(opened.ok());
  const HolderWalks walks(**opened);
  ASSERT_EQ(walks.all().size(), 2u);
  EXPECT_EQ(walks.all()[0].blocks[0].path, walks.all()[1].blocks[0].path);
  EXPECT_EQ(walks.paths()[walks.paths().StepsOf(walks.all()[1].blocks[0].path)[0]].file, "/job/train.py");
}

TEST(WalkedBlocks, PartsOfAWalkAreOne) {
  TraceBuilder trace;
  trace.Allocate(0, 10, FRAMEWORK_BLOCK, 0, 1, 0x1000, 1);
  trace.Allocate(0, 20, FRAMEWORK_BLOCK, 0, 1, 0x2000, 10);
  HolderWalkBuilder first = WalkTo({0x1000}, 50, 50), second = WalkTo({0x2000}, 50, 60);
  first.SetPart(0, false);
  second.SetPart(1, true);
  trace.HolderWalk(first);
  trace.HolderWalk(second);
  const std::string file = trace.Finish();
  absl::StatusOr<std::unique_ptr<Trace>> opened = Trace::Read(file, "test");
  ASSERT_TRUE(opened.ok());
  const HolderWalks walks(**opened);
  ASSERT_EQ(walks.all().size(), 1u);
  EXPECT_TRUE(walks.all()[0].complete());
  EXPECT_EQ(walks.all()[0].end_ticks, 60u);
  ASSERT_EQ(walks.all()[0].blocks.size(), 2u);
  EXPECT_EQ(walks.all()[0].blocks[0].path, walks.all()[0].blocks[1].path);

  TraceBuilder lost;
  lost.Allocate(0, 10, FRAMEWORK_BLOCK, 0, 1, 0x1000, 1);
  lost.HolderWalk(first);
  const std::string half = lost.Finish();
  absl::StatusOr<std::unique_ptr<Trace>> cut = Trace::Read(half, "test");
  ASSERT_TRUE(cut.ok());
  EXPECT_FALSE(HolderWalks(**cut).all()[0].complete());
}

}  // namespace
}  // namespace vramtrack
