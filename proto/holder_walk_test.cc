// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "proto/frame_scanner.h"
#include "proto/holder_walk_decoder.h"
#include "proto/testing/trace_builder.h"
#include "proto/trace.pb.h"

namespace vramtrack {
namespace {

HolderWalkBuilder SampleWalk() {
  HolderWalkBuilder walk(3, schema::HOLDERS_AT_GROWTH, 1000, 2500);
  walk.SetCounts(360000, 420);
  walk.SetStopped(schema::HOLDERS_OUT_OF_TIME);
  const uint32_t module = walk.Path(0, schema::HOLDER_MODULE, "__main__", "module", 0, 1, "/job/train.py");
  const uint32_t history = walk.Path(module, schema::HOLDER_ATTRIBUTE, "history", "list", 1204);
  walk.Limit(history, 5000);
  const uint32_t entry = walk.Path(history, schema::HOLDER_ENTRY, "", "dict", 3, 1204);
  const uint32_t loss = walk.Path(entry, schema::HOLDER_KEY, "loss", "Tensor", 0, 1204);
  walk.Block(0x7f0000000400, walk.Path(loss, schema::HOLDER_GRAPH, "", "AddBackward0"), schema::HOLDER_IS_SAVED);
  walk.Block(0x7f0000000200, loss, schema::HOLDER_REQUIRES_GRADIENT, "Tensor", 7, walk.Shape({}));
  walk.Block(0x7f0000000000, 0, 0, "", 0, walk.Shape({8, 1024}), 1);
  return walk;
}

std::string PayloadOf(const HolderWalkBuilder& walk) { return walk.Frame().substr(kSealedPrefixBytes); }

TEST(HolderWalk, EverythingComesBack) {
  DecodedHolderWalk walk;
  const std::string payload = PayloadOf(SampleWalk());
  ASSERT_TRUE(ReadHolderWalk(payload, &walk));
  EXPECT_EQ(walk.walk, 3u);
  EXPECT_EQ(walk.part, 0u);
  EXPECT_TRUE(walk.last);
  EXPECT_EQ(walk.moment, uint32_t{schema::HOLDERS_AT_GROWTH});
  EXPECT_EQ(walk.stopped, uint32_t{schema::HOLDERS_OUT_OF_TIME});
  EXPECT_EQ(walk.begin_ticks, 1000u);
  EXPECT_EQ(walk.end_ticks, 2500u);
  EXPECT_EQ(walk.objects, 360000u);
  EXPECT_EQ(walk.tensors, 420u);
  ASSERT_EQ(walk.paths.size(), 5u);
  const DecodedHolderPath& history = walk.paths[1];
  EXPECT_EQ(history.parent, 1u);
  EXPECT_EQ(history.step, uint32_t{schema::HOLDER_ATTRIBUTE});
  EXPECT_EQ(walk.names[history.name - 1], "history");
  EXPECT_EQ(walk.names[history.type - 1], "list");
  EXPECT_EQ(history.entries, 1204u);
  EXPECT_EQ(history.limit, 5000u);
  EXPECT_EQ(walk.paths[2].limit, 0u);
  EXPECT_EQ(walk.paths[2].name, 0u);
  EXPECT_EQ(walk.names[walk.paths[0].file - 1], "/job/train.py");
  ASSERT_EQ(walk.shapes.size(), 2u);
  EXPECT_EQ(walk.shapes[0].size(), 0u);
  EXPECT_EQ(walk.shapes[1], (std::vector<uint64_t>{8, 1024}));
  ASSERT_EQ(walk.blocks.size(), 3u);
  EXPECT_EQ(walk.blocks[0].address, 0x7f0000000000u);
  EXPECT_EQ(walk.blocks[0].path, 0u);
  EXPECT_EQ(walk.blocks[0].device, 1u);
  EXPECT_EQ(walk.blocks[1].address, 0x7f0000000200u);
  EXPECT_EQ(walk.blocks[1].shape, 1u);
  EXPECT_EQ(walk.blocks[2].address, 0x7f0000000400u);
  EXPECT_EQ(walk.blocks[2].path, 5u);
  EXPECT_EQ(walk.blocks[2].flags, uint32_t{schema::HOLDER_IS_SAVED});
}

TEST(HolderWalk, TheHeaderCanBeReadAlone) {
  DecodedHolderWalk walk;
  const std::string payload = PayloadOf(SampleWalk());
  ASSERT_TRUE(ReadHolderWalkHeader(payload, &walk));
  EXPECT_EQ(walk.walk, 3u);
  EXPECT_TRUE(walk.names.empty());
  EXPECT_TRUE(walk.blocks.empty());
}

TEST(HolderWalk, StockProtobufReadsIt) {
  TraceBuilder trace;
  trace.HolderWalk(SampleWalk());
  format::Trace read;
  ASSERT_TRUE(read.ParseFromString(trace.Finish()));
  ASSERT_EQ(read.holder_walks_size(), 1);
  const format::HolderWalk& walk = read.holder_walks(0);
  EXPECT_EQ(walk.sync(), kSync);
  EXPECT_EQ(walk.names(walk.path_name(1) - 1), "history");
  EXPECT_EQ(walk.block_address_size(), 3);
  EXPECT_EQ(walk.block_address(1), 0x200u);
}

TEST(HolderWalk, RowsThatMakeNoSenseAreRefused) {
  DecodedHolderWalk walk;
  const auto refused = [&walk](const HolderWalkBuilder& builder) { return !ReadHolderWalk(PayloadOf(builder), &walk); };
  HolderWalkBuilder itself(1, schema::HOLDERS_AT_EXIT, 0, 0);
  itself.Path(1, schema::HOLDER_ATTRIBUTE, "a");
  EXPECT_TRUE(refused(itself)) << "a path that continues itself";
  HolderWalkBuilder later(1, schema::HOLDERS_AT_EXIT, 0, 0);
  later.Path(2, schema::HOLDER_ATTRIBUTE, "a");
  later.Path(0, schema::HOLDER_MODULE, "b");
  EXPECT_TRUE(refused(later)) << "a path that continues a later one";
  HolderWalkBuilder path(1, schema::HOLDERS_AT_EXIT, 0, 0);
  path.Block(512, 1);
  EXPECT_TRUE(refused(path)) << "a block without its path";
  HolderWalkBuilder shape(1, schema::HOLDERS_AT_EXIT, 0, 0);
  shape.Block(512, 0, 0, "Tensor", 7, 1);
  EXPECT_TRUE(refused(shape)) << "a block without its shape";
  EXPECT_TRUE(refused(HolderWalkBuilder(1, schema::HOLDERS_AT_EXIT, 2, 1))) << "it ends before it begins";
  HolderWalkBuilder empty(1, schema::HOLDERS_AT_EXIT, 1, 1);
  EXPECT_FALSE(refused(empty));
  HolderWalkBuilder beyond(1, schema::HOLDERS_AT_EXIT, 1, 1);
  beyond.Block(~uint64_t{0}, 0);
  EXPECT_FALSE(refused(beyond));
  // A second address after the last possible one: the differences add up to more than 64 bits.
  std::string payload = PayloadOf(beyond);
  ASSERT_TRUE(ReadHolderWalk(payload, &walk));
}

TEST(HolderWalk, DamageIsNoMoreThanWhatIsDamaged) {
  const std::string payload = PayloadOf(SampleWalk());
  std::mt19937_64 random(9);
  DecodedHolderWalk walk;
  for (size_t cut = 0; cut < payload.size(); ++cut) ReadHolderWalk(payload.substr(0, cut), &walk);
  for (int i = 0; i < 50000; ++i) {
    std::string changed = payload;
    for (uint64_t flips = 1 + random() % 3; flips > 0; --flips) {
      changed[random() % changed.size()] = static_cast<char>(random());
    }
    if (!ReadHolderWalk(changed, &walk)) continue;
    EXPECT_LE(walk.blocks.size(), changed.size());
    for (size_t row = 0; row < walk.paths.size(); ++row) EXPECT_LE(walk.paths[row].parent, row);
    for (const DecodedHolderBlock& block : walk.blocks) EXPECT_LE(block.path, walk.paths.size());
  }
  TraceBuilder trace;
  trace.HolderWalk(SampleWalk());
  trace.HolderWalk(SampleWalk());
  std::string file = trace.Finish();
  file[kHeaderBytes + kSealedPrefixBytes + 30] ^= 1;
  TraceLayout layout;
  ASSERT_EQ(ScanTrace(file, &layout), "");
  EXPECT_EQ(layout.holder_walks.size(), 1u);
  EXPECT_EQ(layout.damage.size(), 1u);
}

}  // namespace
}  // namespace vramtrack
