// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/segment_layout.h"

#include <algorithm>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "gtest/gtest.h"

namespace vramtrack::torch_allocator {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr ThreadSlot kThread(0);

using Content = std::vector<std::tuple<uint64_t, uint64_t, uint32_t>>;

Content SegmentsOf(const SegmentLayout& layout) {
  Content segments;
  for (const SegmentLayout::Segment& s : layout.Segments()) segments.push_back({s.begin, s.bytes, s.arena});
  return segments;
}

Content LiveOf(const SegmentLayout& layout) {
  Content live;
  layout.ForEachLive([&live](SegmentLayout::Block, uint64_t address, uint64_t bytes) {
    live.push_back({address, bytes, 0});
  });
  std::sort(live.begin(), live.end());
  return live;
}

// Does the same to a layout that never rests and to one that rests whenever it can.
class TwoLayouts {
 public:
  TwoLayouts() { rests_.RestAfter(0, 20); }

  void AddMemory(uint64_t address, uint64_t bytes, bool mapped) {
    const Name name = {kThread, ++names_};
    follows_.AddMemory(name, address, bytes, mapped);
    rests_.AddMemory(name, address, bytes, mapped);
  }
  void AddAddresses(uint64_t address, uint64_t bytes) {
    const Name name = {kThread, ++names_};
    follows_.AddAddresses(name, address, bytes);
    rests_.AddAddresses(name, address, bytes);
  }
  void RemoveMemory(uint64_t address) { EXPECT_EQ(follows_.RemoveMemory(address), rests_.RemoveMemory(address)); }
  void Place(uint64_t address, uint64_t bytes) {
    const SegmentLayout::Placed followed = follows_.Place(kThread, address, bytes),
                                placed = rests_.Place(kThread, address, bytes);
    EXPECT_EQ(std::tie(followed.segment, followed.small, followed.arena),
              std::tie(placed.segment, placed.small, placed.arena));
    EXPECT_EQ(followed.block == SegmentLayout::kNone, placed.block == SegmentLayout::kNone);
    if (rests_.at_rest()) {
      ++rested_;
      return;
    }
    EXPECT_EQ(followed.surprising, placed.surprising);
  }
  void Remove(uint64_t address) {
    const SegmentLayout::Block followed = follows_.Remove(address), removed = rests_.Remove(address);
    EXPECT_EQ(followed == SegmentLayout::kNone, removed == SegmentLayout::kNone);
  }
  void ExpectSame() {
    rests_.Wake();
    EXPECT_EQ(SegmentsOf(follows_), SegmentsOf(rests_));
    EXPECT_EQ(LiveOf(follows_), LiveOf(rests_));
    EXPECT_EQ(follows_.reserved(), rests_.reserved());
    EXPECT_EQ(follows_.live(), rests_.live());
  }
  uint64_t rested() const { return rested_; }

 private:
  const Arenas one_arena_;
  // With arenas that are known, each block that is placed says whether a free piece would have fitted better.
  SegmentLayout follows_{&one_arena_}, rests_{&one_arena_};
  uint64_t names_ = 0, rested_ = 0;
};

TEST(SegmentLayoutTest, IsTheSameAfterARest) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    TwoLayouts layouts;
    std::map<uint64_t, uint64_t> live, segments;  // address to bytes
    const auto place_in = [&](uint64_t begin, uint64_t end) {
      const uint64_t bytes = 512 * (1 + random() % 400), room = end - begin;
      if (bytes > room) return;
      const uint64_t address = begin + 512 * (random() % ((room - bytes) / 512 + 1));
      const auto after = live.lower_bound(address);
      if (after != live.end() && after->first < address + bytes) return;
      if (after != live.begin() && std::prev(after)->first + std::prev(after)->second > address) return;
      layouts.Place(address, bytes);
      live[address] = bytes;
    };
    layouts.AddAddresses(1000 * kMiB, 100 * kMiB);
    uint64_t mapped_end = 1000 * kMiB;
    for (int i = 0; i < 4000; ++i) {
      const uint32_t what = random() % 400;
      if (what == 0 && segments.size() < 12) {
        const uint64_t address = (1 + random() % 40) * 20 * kMiB, bytes = (2 + random() % 18) * kMiB;
        if (!segments.emplace(address, bytes).second) continue;
        layouts.AddMemory(address, bytes, false);
        place_in(address, address + bytes);
      } else if (what == 1 && mapped_end < 1080 * kMiB) {
        layouts.AddMemory(mapped_end, 2 * kMiB, true);
        mapped_end += 2 * kMiB;
        segments[1000 * kMiB] = mapped_end - 1000 * kMiB;
        place_in(mapped_end - 2 * kMiB, mapped_end);
      } else if (what == 2 && !segments.empty()) {
        const auto gone = std::next(segments.begin(), random() % segments.size());
        if (gone->first == 1000 * kMiB) continue;
        for (auto at = live.lower_bound(gone->first); at != live.end() && at->first < gone->first + gone->second;) {
          layouts.Remove(at->first);
          at = live.erase(at);
        }
        layouts.RemoveMemory(gone->first);
        segments.erase(gone);
      } else if (what < 220 && !segments.empty()) {
        const auto into = std::next(segments.begin(), random() % segments.size());
        place_in(into->first, into->first + into->second);
      } else if (!live.empty()) {
        const auto gone = std::next(live.begin(), random() % live.size());
        layouts.Remove(gone->first);
        live.erase(gone);
      }
      if (random() % 300 == 0) layouts.ExpectSame();
    }
    layouts.ExpectSame();
    EXPECT_GT(layouts.rested(), 200u);
  }
}

TEST(SegmentLayoutTest, ADamagedTraceAtRestLosesOnlyWhatIsWrong) {
  TwoLayouts layouts;
  layouts.AddMemory(20 * kMiB, 20 * kMiB, false);
  for (uint64_t i = 0; i < 100; ++i) layouts.Place(20 * kMiB + 4096 * i, 4096);
  EXPECT_GT(layouts.rested(), 0u);
  layouts.Place(500 * kMiB, 4096);  // outside of all memory
  layouts.Place(20 * kMiB, 4096);   // where a block is
  layouts.Remove(400 * kMiB);       // where none is
  layouts.Place(39 * kMiB, 4096);
  layouts.ExpectSame();
}

TEST(SegmentLayoutTest, CountsAtRestHowOftenSegmentsAreUsed) {
  const Name one = {kThread, 1}, other = {kThread, 2};
  SegmentLayout follows(nullptr), rests(nullptr);
  rests.RestAfter(0, 20, /*counts_uses=*/true);
  uint64_t rested = 0;
  for (SegmentLayout* layout : {&follows, &rests}) {
    layout->AddMemory(one, 20 * kMiB, 20 * kMiB, false);
    layout->Place(kThread, 20 * kMiB, 15 * kMiB);
    layout->AddMemory(other, 60 * kMiB, 20 * kMiB, false);
    layout->Place(kThread, 60 * kMiB, 2 * kMiB);  // the rest of the first segment would have fitted better
    const auto come_and_go = [&](uint64_t address, int times) {
      for (int i = 0; i < times; ++i) {
        layout->Place(kThread, address, 2 * kMiB);
        rested += layout->at_rest();
        layout->Remove(address);
      }
    };
    come_and_go(35 * kMiB, 30);
    come_and_go(62 * kMiB, 100);   // behind a live block
    come_and_go(70 * kMiB, 1000);  // in the middle of a free piece, which tells nothing
    come_and_go(35 * kMiB, 20);
  }
  EXPECT_GT(rested, 1000u);
  EXPECT_EQ(follows.Learnt().of_segment, rests.Learnt().of_segment);
  // The arena that is used most is the first.
  EXPECT_EQ(rests.Learnt().Of(other), 0u);
  EXPECT_EQ(rests.Learnt().Of(one), 1u);
}

}  // namespace
}  // namespace vramtrack::torch_allocator
