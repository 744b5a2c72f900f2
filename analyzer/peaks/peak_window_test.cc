// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <vector>

#include "analyzer/ledger/page_usage.h"
#include "analyzer/peaks/peak_window.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

TEST(PageUsage, RoundsAsTheDeviceDoes) {
  EXPECT_EQ(RoundedBytes(0, 1), 512u);
  EXPECT_EQ(RoundedBytes(0, 512), 512u);
  EXPECT_EQ(RoundedBytes(0, 513), 1024u);
  EXPECT_EQ(RoundedBytes(0, kMiB - 1), kMiB);
  EXPECT_EQ(RoundedBytes(0, kMiB), kMiB);
  EXPECT_EQ(RoundedBytes(0, kMiB + 1), 2 * kMiB);
  EXPECT_EQ(RoundedBytes(4 * kMiB, 2 * kMiB + 1), 4 * kMiB);
  // Not at a page's beginning: it shares its page.
  EXPECT_EQ(RoundedBytes(512, kMiB + 1), kMiB + 512);
}

TEST(PageUsage, OneSmallAllocationKeepsItsPage) {
  PageUsage pages;
  for (uint64_t i = 0; i < 4096; ++i) pages.Add(64 * kMiB + 512 * i, 512);
  EXPECT_EQ(pages.reserved(), 2 * kMiB);
  EXPECT_EQ(pages.usage().free_pinned, 0u);
  for (uint64_t i = 0; i < 4095; ++i) pages.Remove(64 * kMiB + 512 * i, 512);
  EXPECT_EQ(pages.reserved(), 2 * kMiB);
  EXPECT_EQ(pages.usage().free_pinned, 2 * kMiB - 512);
  pages.Remove(64 * kMiB + 512 * 4095, 512);
  EXPECT_EQ(pages.reserved(), 0u);
}

TEST(PageUsage, TheIdentityHoldsToTheByte) {
  PageUsage pages;
  std::mt19937_64 random(1);
  std::map<uint64_t, uint64_t> live;  // address, bytes
  for (int i = 0; i < 5000; ++i) {
    if (random() % 100 < 60 || live.empty()) {
      const uint64_t bytes = 1 + random() % (random() % 5 == 0 ? 9 * kMiB : 20000);
      const uint64_t address = random() % 300 * 16 * kMiB + (random() % 2 == 0 ? 0 : 512 * (random() % 4096));
      const auto next = live.lower_bound(address);
      if (next != live.end() && address + RoundedBytes(address, bytes) > next->first) continue;
      if (next != live.begin()) {
        const auto& [before, size] = *std::prev(next);
        if (before + RoundedBytes(before, size) > address) continue;
      }
      live[address] = bytes;
      pages.Add(address, bytes);
    } else {
      auto victim = live.begin();
      std::advance(victim, static_cast<std::ptrdiff_t>(random() % live.size()));
      pages.Remove(victim->first, victim->second);
      live.erase(victim);
    }
    uint64_t bytes = 0, rounded = 0;
    std::set<uint64_t> touched;
    for (const auto& [address, size] : live) {
      bytes += size;
      rounded += RoundedBytes(address, size);
      const uint64_t end = address + RoundedBytes(address, size);
      for (uint64_t page = address / kDevicePageBytes; page * kDevicePageBytes < end; ++page) touched.insert(page);
    }
    const DeviceUsage usage = pages.usage();
    ASSERT_EQ(usage.live, bytes);
    ASSERT_EQ(usage.rounding, rounded - bytes);
    ASSERT_EQ(usage.reserved, touched.size() * kDevicePageBytes);
    ASSERT_EQ(usage.reserved, usage.live + usage.rounding + usage.free_pinned);
  }
}

TEST(PageUsage, AllocationsOnTopOfEachOtherDoNotBreakTheIdentity) {
  // Only a damaged trace has them.
  PageUsage pages;
  for (int i = 0; i < 10; ++i) pages.Add(512, 4096);
  const DeviceUsage usage = pages.usage();
  EXPECT_EQ(usage.reserved, usage.live + usage.rounding + usage.free_pinned);
  pages.Add(512, 3 * kMiB);
  EXPECT_EQ(pages.usage().reserved, pages.usage().live + pages.usage().rounding + pages.usage().free_pinned);
}

TEST(Placement, NeedsNoMoreThanWhatIsLiveWhereThatIsPossible) {
  // All at once; one after the other; a stack.
  EXPECT_EQ(BestPlacement({{0, 9, 100}, {0, 9, 30}, {1, 9, 5}}).bytes, 135u);
  EXPECT_EQ(BestPlacement({{0, 1, 100}, {1, 2, 70}, {2, 3, 100}}).bytes, 100u);
  EXPECT_EQ(BestPlacement({{0, 10, 10}, {1, 9, 20}, {2, 8, 30}, {3, 4, 40}, {5, 6, 40}}).bytes, 100u);
  EXPECT_EQ(BestPlacement({}).bytes, 0u);
  EXPECT_EQ(BestPlacement({{3, 3, 100}}).bytes, 0u);
}

TEST(Placement, NeverLessThanWhatIsLiveAndNothingOverlaps) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 50; ++round) {
    std::vector<Lifetime> lifetimes;
    for (int i = 0; i < 200; ++i) {
      const auto birth = static_cast<uint32_t>(random() % 100);
      lifetimes.push_back({birth, birth + 1 + static_cast<uint32_t>(random() % 30), 1 + random() % 1000});
    }
    uint64_t most = 0;
    for (uint32_t time = 0; time < 130; ++time) {
      uint64_t live = 0;
      for (const Lifetime& l : lifetimes) live += l.birth <= time && time < l.death ? l.bytes : 0;
      most = std::max(most, live);
    }
    const Placement placement = BestPlacement(lifetimes);
    const uint64_t needed = placement.bytes;
    for (size_t i = 0; i < lifetimes.size(); ++i) {
      EXPECT_LE(placement.offsets[i] + lifetimes[i].bytes, needed);
      for (size_t j = 0; j < i; ++j) {
        const Lifetime &a = lifetimes[i], &b = lifetimes[j];
        if (a.death <= b.birth || b.death <= a.birth) continue;
        EXPECT_TRUE(placement.offsets[i] + a.bytes <= placement.offsets[j] ||
                    placement.offsets[j] + b.bytes <= placement.offsets[i])
            << i << " and " << j << " overlap";
      }
    }
    EXPECT_GE(needed, most);
    EXPECT_LE(needed, most * 13 / 10);
  }
}

TEST(PeakWindow, WhatWasThereThroughoutLiesAtTheBottom) {
  PeakWindow window(10000);
  EXPECT_FALSE(window.Contains(10000 - PeakWindow::kEvents));
  EXPECT_TRUE(window.Contains(10001 - PeakWindow::kEvents));
  EXPECT_TRUE(window.Contains(10000));
  EXPECT_FALSE(window.Contains(10001));
  window.OnDeath(9000, {ThreadSlot(0), 1}, 300);  // born before the window
  window.OnBirth(9500, {ThreadSlot(0), 2}, 200);
  window.OnDeath(9600, {ThreadSlot(0), 2}, 200);
  window.OnBirth(10000, {ThreadSlot(0), 3}, 250);
  // 1000 at the peak, 250 of them new: the new ones fit where the old 300 were.
  EXPECT_EQ(window.Bound(1000), 750u + 300u);
}

}  // namespace
}  // namespace vramtrack
