// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/frame_walk.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <random>
#include <tuple>
#include <vector>

namespace vramtrack {
namespace {

constexpr size_t kFrameBytes = 128, kPlaces = 64, kMostFrames = 8;

struct Frame {
  uint32_t code, instruction, owner;
  bool entry;
  bool operator<(const Frame& b) const {
    return std::tie(code, instruction, owner, entry) < std::tie(b.code, b.instruction, b.owner, b.entry);
  }
};
using Chain = std::vector<Frame>;  // innermost first

// Frames in memory, with code objects that are only addresses.
class Memory {
 public:
  explicit Memory(const FrameOffsets& offsets) : o_(offsets) {}

  // Puts the chain at places from `place` on, and returns its innermost frame.
  uint64_t Put(const Chain& chain, size_t place) {
    uint64_t previous = 0;
    for (size_t i = chain.size(); i-- > 0;) {
      const uint64_t at = reinterpret_cast<uint64_t>(memory_.data()) + kFrameBytes * (place++ % kPlaces);
      const uint64_t code = 0x10000 + 64 * uint64_t{chain[i].code};
      Store(at + o_.frame_previous, previous);
      Store(at + o_.frame_code, code);
      if (o_.chain == FrameChain::kObjects) {
        Store(at + o_.frame_position, chain[i].instruction);
      } else {
        Store(at + o_.frame_position, code + 2 * chain[i].instruction);
        Store(at + o_.frame_owner, static_cast<uint8_t>(chain[i].owner));
      }
      if (o_.chain == FrameChain::kMarked) Store(at + o_.frame_is_entry, chain[i].entry);
      previous = at;
    }
    return previous;
  }

 private:
  template <typename Value>
  void Store(uint64_t at, Value value) {
    std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
  }

  const FrameOffsets& o_;
  alignas(64) std::array<uint8_t, kPlaces* kFrameBytes> memory_ = {};
};

class HashOfFramesTest : public testing::TestWithParam<uint32_t> {
 protected:
  const FrameOffsets& offsets_ = *OffsetsOfVersion(GetParam());
  bool shims() const { return offsets_.chain == FrameChain::kShims; }

  // What is kept of a chain, and the next frame.
  Chain Kept(const Chain& chain) const {
    Chain kept;
    size_t count = 0;
    for (const Frame& frame : chain) {
      if (count > kMostFrames) break;
      kept.push_back(frame);
      count += !shims() || frame.owner <= kOwnedByFrameObject;
    }
    return kept;
  }
};

// Few codes and instructions, so that chains differ in one thing only, in any frame, or in the same thing in several.
TEST_P(HashOfFramesTest, SaysWhichChainItIsWhereverItIs) {
  std::mt19937 random(GetParam());
  Memory memory(offsets_);
  std::map<Chain, uint64_t> hashes;
  std::map<uint64_t, Chain> chains;
  Chain chain;
  for (int i = 0; i < 50000; ++i) {
    const uint32_t what = random() % 16;
    if (chain.empty() || (what < 5 && chain.size() < 2 * kMostFrames)) {
      const uint32_t owner = shims() && random() % 4 == 0 ? kOwnedByFrameObject + 1 : random() % 2;
      chain.insert(chain.begin(),
                   {static_cast<uint32_t>(random() % 3), static_cast<uint32_t>(random() % 3), owner, false});
      // Shims have the same code object and instruction all.
      if (owner > kOwnedByFrameObject) chain.front() = {7, 1, owner, false};
      if (offsets_.chain == FrameChain::kMarked) chain.front().entry = random() % 2 != 0;
      if (!shims()) chain.front().owner = 0;
    } else if (what < 8) {
      chain.erase(chain.begin());
    } else if (what < 12) {
      Frame& frame = chain[random() % chain.size()];
      if (frame.owner <= kOwnedByFrameObject) frame.instruction = random() % 3;
    } else if (what == 12) {
      for (Frame& frame : chain) frame.code ^= frame.owner <= kOwnedByFrameObject;
    } else if (what == 13 && chain.size() > 1) {
      std::swap(chain[random() % chain.size()], chain[random() % chain.size()]);
    }
    if (chain.empty()) continue;
    Chain kept = Kept(chain);
    for (Frame& frame : kept) frame.owner = frame.owner > kOwnedByFrameObject;  // does not count
    const uint64_t hash = HashOfFrames(offsets_, memory.Put(chain, random()), kMostFrames);
    ASSERT_NE(hash, 0u);
    ASSERT_EQ(hashes.emplace(kept, hash).first->second, hash) << i;
    const Chain& of_hash = chains.emplace(hash, kept).first->second;
    ASSERT_TRUE(!(of_hash < kept) && !(kept < of_hash)) << i;
  }
  EXPECT_GT(hashes.size(), 5000u);
}

INSTANTIATE_TEST_SUITE_P(Versions, HashOfFramesTest, testing::Values(8, 9, 10, 11, 12, 13, 14));

}  // namespace
}  // namespace vramtrack
