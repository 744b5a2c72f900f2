// SPDX-License-Identifier: Apache-2.0
//
// Cut and flipped files: what is whole is read as it was, what is not is reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "proto/block_decoder.h"
#include "proto/frame_scanner.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

std::set<std::string> Blocks(const std::string& file, TraceLayout* layout) {
  EXPECT_EQ(ScanTrace(file, layout), "");
  std::set<std::string> blocks;
  for (const FrameRef& block : layout->blocks) blocks.emplace(block.payload);
  return blocks;
}

std::string SmallTrace(uint64_t seed, bool killed) {
  RandomTrace random(seed, 6000, 3);
  for (uint32_t thread = 0; thread < 3; ++thread) random.trace.Seal(thread);
  return killed ? random.trace.Kill() : random.trace.Finish();
}

bool IsSubset(const std::set<std::string>& part, const std::set<std::string>& whole) {
  for (const std::string& block : part) {
    if (whole.count(block) == 0) return false;
  }
  return true;
}

TEST(Damage, AFileCutAnywhereIsReadUpToTheCut) {
  const std::string file = SmallTrace(1, false);
  TraceLayout whole;
  const std::set<std::string> blocks = Blocks(file, &whole);
  ASSERT_GT(blocks.size(), 5u);
  ASSERT_TRUE(whole.finished);
  for (size_t length = 0; length < file.size(); length += 97) {
    SCOPED_TRACE(length);
    const std::string cut = file.substr(0, length);
    TraceLayout layout;
    if (length < kHeaderBytes) {
      EXPECT_NE(ScanTrace(cut, &layout), "");
      continue;
    }
    const std::set<std::string> left = Blocks(cut, &layout);
    EXPECT_TRUE(IsSubset(left, blocks));
    EXPECT_FALSE(layout.finished);
    // Every block before the cut is there.
    size_t before = 0;
    for (const FrameRef& block : whole.blocks)
      before += block.offset + kSealedPrefixBytes + block.payload.size() <= length;
    EXPECT_EQ(layout.blocks.size(), before);
    uint64_t end = kHeaderBytes;
    for (const std::vector<FrameRef>* frames : {&layout.blocks, &layout.holder_walks}) {
      if (!frames->empty())
        end = std::max(end, frames->back().offset + frames->back().payload.size() + kSealedPrefixBytes);
    }
    uint64_t lost = 0;
    for (const Damage& damage : layout.damage) lost += damage.bytes;
    EXPECT_EQ(lost, length - end) << "the rest is reported";
  }
}

TEST(Damage, AFlippedBitCostsOneBlockAtMost) {
  const std::string file = SmallTrace(2, false);
  TraceLayout whole;
  const std::set<std::string> blocks = Blocks(file, &whole);
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    std::string flipped = file;
    const size_t at = kHeaderBytes + random() % (file.size() - kHeaderBytes);
    flipped[at] = static_cast<char>(flipped[at] ^ 1 << random() % 8);
    SCOPED_TRACE(at);
    TraceLayout layout;
    const std::set<std::string> left = Blocks(flipped, &layout);
    EXPECT_TRUE(IsSubset(left, blocks)) << "no block may change";
    EXPECT_GE(left.size() + 1, blocks.size());
    EXPECT_TRUE(left.size() == blocks.size() || !layout.damage.empty());
    EXPECT_TRUE(!layout.damage.empty() || !layout.finished || left.size() == blocks.size());
    EXPECT_FALSE(layout.damage.empty()) << "every byte behind the header page belongs to a frame";
  }
}

TEST(Damage, ForeignEmptyAndNewerFilesAreRefusedInOneLine) {
  std::string newer = SmallTrace(3, false);
  newer[kHeaderVersionOffset] = 99;
  std::string zero = SmallTrace(3, false);
  zero[kHeaderVersionOffset] = 0;
  for (const std::string& file : {std::string(), std::string(10000, '\0'), std::string(5000, 'x'), newer, zero}) {
    TraceLayout layout;
    const std::string error = ScanTrace(file, &layout);
    EXPECT_NE(error, "");
    EXPECT_EQ(error.find('\n'), std::string::npos);
  }
  TraceLayout layout;
  EXPECT_NE(ScanTrace(newer, &layout).find("99"), std::string::npos);
}

TEST(Damage, RoomThatWasNeverWrittenIsNoDamage) {
  const std::string file = SmallTrace(4, false) + std::string(100000, '\0');
  TraceLayout layout;
  Blocks(file, &layout);
  EXPECT_TRUE(layout.damage.empty());
  EXPECT_TRUE(layout.finished);
}

TEST(Damage, BlocksWithHostileContentsAreRefused) {
  // A block whose checksum is right but whose contents are noise: no crash, no endless loop, and no event beyond the
  // end.
  std::mt19937_64 random(9);
  const std::string file = SmallTrace(5, false);
  TraceLayout layout;
  Blocks(file, &layout);
  for (int i = 0; i < 4000; ++i) {
    std::string payload(layout.blocks[random() % layout.blocks.size()].payload);
    for (uint64_t flips = 1 + random() % 4; flips > 0; --flips) {
      payload[random() % payload.size()] = static_cast<char>(random());
    }
    if (random() % 4 == 0) payload.resize(random() % payload.size());
    BlockDecoder decoder;
    if (!decoder.Open(payload)) continue;
    uint64_t events = 0;
    for (DecodedEvent event; decoder.Next(&event);) ++events;
    EXPECT_LE(events, payload.size());
  }
}

}  // namespace
}  // namespace vramtrack
