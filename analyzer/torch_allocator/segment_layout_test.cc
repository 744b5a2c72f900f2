// SPDX-License-Identifier: Apache-2.0
#include "analyzer/torch_allocator/segment_layout.h"

#include <map>
#include <random>
#include <tuple>
#include <utility>
#include <vector>

#include "gtest/gtest.h"

namespace vramtrack::torch_allocator {
namespace {

constexpr uint64_t kMiB = 1 << 20;

using Content = std::vector<std::tuple<uint64_t, uint64_t, bool>>;

Content SegmentsOf(const SegmentLayout& layout) {
  Content segments;
  for (const SegmentLayout::Segment& s : layout.Segments()) segments.push_back({s.begin, s.bytes, s.small});
  return segments;
}

// Does the same to a layout that never rests and to one that rests in between.
class TwoLayouts {
 public:
  void AddMemory(uint64_t address, uint64_t bytes, bool mapped) {
    Wake();
    follows_.AddMemory(address, bytes, mapped);
    rests_.AddMemory(address, bytes, mapped);
  }
  void AddAddresses(uint64_t address, uint64_t bytes) {
    follows_.AddAddresses(address, bytes);
    rests_.AddAddresses(address, bytes);
  }
  void RemoveMemory(uint64_t address) {
    Wake();
    EXPECT_EQ(follows_.RemoveMemory(address), rests_.RemoveMemory(address));
  }
  void Place(uint64_t address, uint64_t bytes) {
    live_[address] = bytes;
    const SegmentLayout::Placed followed = follows_.Place(address, bytes);
    if (rests_.at_rest()) return;
    const SegmentLayout::Placed placed = rests_.Place(address, bytes);
    EXPECT_EQ(followed.block == SegmentLayout::kNone, placed.block == SegmentLayout::kNone);
    EXPECT_EQ(std::tie(followed.segment, followed.small), std::tie(placed.segment, placed.small));
  }
  void Remove(uint64_t address) {
    live_.erase(address);
    const uint32_t followed = follows_.Remove(address);
    if (!rests_.at_rest()) {
      EXPECT_EQ(followed == SegmentLayout::kNone, rests_.Remove(address) == SegmentLayout::kNone);
    }
  }
  void Rest() { rests_.Rest(); }
  void ExpectSame() {
    Wake();
    EXPECT_EQ(SegmentsOf(follows_), SegmentsOf(rests_));
    EXPECT_EQ(follows_.reserved(), rests_.reserved());
  }

 private:
  void Wake() {
    if (rests_.at_rest()) rests_.Wake({live_.begin(), live_.end()});
  }

  SegmentLayout follows_, rests_;
  std::map<uint64_t, uint64_t> live_;  // address to bytes
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
      if (random() % 300 == 0) layouts.Rest();
      if (random() % 300 == 0) layouts.ExpectSame();
    }
    layouts.ExpectSame();
  }
}

TEST(SegmentLayoutTest, ADamagedTraceLosesOnlyWhatIsWrong) {
  SegmentLayout layout;
  layout.AddMemory(20 * kMiB, 20 * kMiB, false);
  for (uint64_t i = 0; i < 100; ++i) EXPECT_NE(layout.Place(20 * kMiB + 4096 * i, 4096).block, SegmentLayout::kNone);
  EXPECT_EQ(layout.Place(500 * kMiB, 4096).block, SegmentLayout::kNone);  // outside of all memory
  EXPECT_NE(layout.Place(20 * kMiB, 4096).block, SegmentLayout::kNone);   // where a block is
  EXPECT_EQ(layout.Remove(400 * kMiB), SegmentLayout::kNone);             // where none is
  layout.Rest();
  layout.Wake({{500 * kMiB, 4096}, {20 * kMiB, 4096}, {20 * kMiB + 512, 4096}});
  EXPECT_NE(layout.Remove(20 * kMiB), SegmentLayout::kNone);
  EXPECT_EQ(layout.Remove(20 * kMiB + 512), SegmentLayout::kNone);
  EXPECT_EQ(layout.reserved(), 20 * kMiB);
}

}  // namespace
}  // namespace vramtrack::torch_allocator
