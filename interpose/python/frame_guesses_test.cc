// SPDX-License-Identifier: Apache-2.0
#include "interpose/python/frame_guesses.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <tuple>
#include <vector>

#include "interpose/python/frame_walk.h"

namespace vramtrack {
namespace {

constexpr size_t kFrameBytes = 128, kDepth = 12;

// Frames in memory, of a made-up thread, with code objects that are only addresses.
class Frames {
 public:
  explicit Frames(const FrameOffsets& offsets) : o_(offsets) {}

  // Puts the chain there and returns its innermost frame. chain[i]: place, code and instruction of frame i.
  struct Frame {
    uint32_t place, code, instruction;
    bool operator<(const Frame& b) const {
      return std::tie(place, code, instruction) < std::tie(b.place, b.code, b.instruction);
    }
  };
  uint64_t Put(const std::vector<Frame>& chain) {
    memory_.fill(0);
    uint64_t previous = 0;
    for (size_t i = chain.size(); i-- > 0;) {
      const uint64_t at = AddressOf(chain[i].place);
      Store(at + o_.frame_previous, previous);
      Store(at + o_.frame_code, uint64_t{0x10000} + 64 * chain[i].code);
      if (o_.chain == FrameChain::kObjects) {
        Store(at + o_.frame_position, static_cast<int32_t>(chain[i].instruction));
      } else {
        Store(at + o_.frame_position, uint64_t{0x10000} + 64 * chain[i].code + 2 * chain[i].instruction);
      }
      previous = at;
    }
    return previous;
  }

 private:
  uint64_t AddressOf(uint32_t place) const { return reinterpret_cast<uint64_t>(memory_.data()) + kFrameBytes * place; }
  template <typename Value>
  void Store(uint64_t at, Value value) {
    std::memcpy(reinterpret_cast<void*>(at), &value, sizeof value);
  }

  const FrameOffsets& o_;
  alignas(64) std::array<uint8_t, 64 * kFrameBytes> memory_ = {};
};

class FrameGuessesTest : public testing::TestWithParam<uint32_t> {
 protected:
  const FrameOffsets& offsets_ = *OffsetsOfVersion(GetParam());
  Frames frames_{offsets_};
  std::unique_ptr<FrameGuesses> guesses_ = std::make_unique<FrameGuesses>();
};

// Few places, codes and instructions, so that stacks differ in one thing only, in any frame.
TEST_P(FrameGuessesTest, AKnownStackIsThatStackAndNoOther) {
  std::mt19937 random(GetParam());
  std::map<std::vector<Frames::Frame>, uint32_t> numbers;
  size_t known = 0;
  std::vector<Frames::Frame> chain;
  for (int i = 0; i < 200000; ++i) {
    const uint32_t what = random() % 16;
    if (chain.empty() || (what < 4 && chain.size() < kDepth)) {
      chain.insert(chain.begin(),
                   {static_cast<uint32_t>(chain.size() + random() % 2 * 16), random() % 3, random() % 3});
    } else if (what < 8) {
      chain.erase(chain.begin());
    } else if (what < 12) {
      chain[random() % chain.size()].instruction = random() % 3;
    } else if (what == 12) {
      chain[random() % chain.size()].code = random() % 3;
    }
    if (chain.empty()) continue;
    const uint64_t innermost = frames_.Put(chain);
    const auto number = numbers.emplace(chain, numbers.size() + 1).first->second;
    const uint32_t found = guesses_->Find(offsets_, innermost);
    if (found != 0) {
      ASSERT_EQ(found, number) << i;
      ++known;
    } else {
      guesses_->Note(offsets_, innermost, number);
      ASSERT_EQ(guesses_->Find(offsets_, innermost), number);
    }
  }
  EXPECT_GT(numbers.size(), 10000u);  // they do not all fit
  EXPECT_GT(known, 10000u);
}

// A program that runs in steps.
TEST_P(FrameGuessesTest, AllStacksOfAStepAreKnownInTheNext) {
  std::mt19937 random(1);
  std::vector<std::vector<Frames::Frame>> step;
  for (uint32_t i = 0; i < 150; ++i) {
    std::vector<Frames::Frame> chain;
    for (uint32_t depth = 10; depth-- > 0;) chain.push_back({depth, depth == 5 ? i / 8 : depth, random() % 4});
    for (uint32_t times = 1 + random() % 3; times > 0; --times) step.push_back(chain);
  }
  std::map<std::vector<Frames::Frame>, uint32_t> numbers;
  size_t unknown = 0;
  for (int round = 0; round < 3; ++round) {
    unknown = 0;
    for (const auto& chain : step) {
      const uint64_t innermost = frames_.Put(chain);
      const uint32_t number = numbers.emplace(chain, numbers.size() + 1).first->second;
      const uint32_t found = guesses_->Find(offsets_, innermost);
      if (found == 0) guesses_->Note(offsets_, innermost, number);
      unknown += found == 0;
    }
  }
  EXPECT_LE(unknown, step.size() / 50);  // two may share a place
}

TEST_P(FrameGuessesTest, AChainThatIsTooLongIsNotRemembered) {
  std::vector<uint64_t> memory((FrameGuesses::kMaxChain + 1) * kFrameBytes / 8);
  const auto at = [&](size_t i) { return reinterpret_cast<uint64_t>(memory.data()) + kFrameBytes * i; };
  for (size_t i = 0; i + 1 <= FrameGuesses::kMaxChain; ++i) {
    const uint64_t previous = at(i + 1);
    std::memcpy(reinterpret_cast<void*>(at(i) + offsets_.frame_previous), &previous, sizeof previous);
  }
  guesses_->Note(offsets_, at(0), 7);
  EXPECT_EQ(guesses_->Find(offsets_, at(0)), 0u);
  guesses_->Note(offsets_, at(1), 8);
  EXPECT_EQ(guesses_->Find(offsets_, at(1)), 8u);
}

INSTANTIATE_TEST_SUITE_P(Versions, FrameGuessesTest, testing::Values(8, 9, 10, 11, 12, 13, 14));

}  // namespace
}  // namespace vramtrack
