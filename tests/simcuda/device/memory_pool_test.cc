// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/memory_pool.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace vramtrack::simcuda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

TEST(MemoryPoolTest, never_gives_out_a_byte_twice_and_counts_what_it_holds) {
  std::mt19937 random(5);
  DeviceMemory memory(10, 512 * kMiB, false);
  MemoryPool pool(10, &memory, 0);
  pool.set_threshold(100 * kMiB);
  std::map<char*, size_t> live;
  uint64_t used = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 20 < 11) {
      const size_t bytes = 1 + random() % (size_t{1} << (1 + random() % 23));
      char* address = pool.Allocate(bytes);
      if (address == nullptr) continue;
      auto next = live.lower_bound(address);
      ASSERT_TRUE(next == live.end() || address + bytes <= next->first);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= address);
      live[address] = bytes;
      used += (bytes + 511) / 512 * 512;
    } else if (!live.empty()) {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      char* base = nullptr;
      size_t bytes = 0;
      ASSERT_TRUE(pool.Find(victim->first + victim->second / 2, &base, &bytes));
      ASSERT_EQ(base, victim->first);
      ASSERT_EQ(bytes, victim->second);
      ASSERT_TRUE(pool.Free(victim->first));
      ASSERT_FALSE(pool.Free(victim->first));
      used -= (victim->second + 511) / 512 * 512;
      live.erase(victim);
    }
    if (step % 100 == 0) pool.Synchronized();
    const MemoryPool::Usage usage = pool.usage();
    ASSERT_EQ(usage.used, used);
    ASSERT_GE(usage.reserved, usage.used);
    ASSERT_EQ(memory.used_bytes(), usage.reserved);
  }
  for (const auto& allocation : live) pool.Free(allocation.first);
  pool.TrimTo(0);
  EXPECT_EQ(pool.usage().reserved, 0u);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(MemoryPoolTest, keeps_its_threshold_when_it_is_synchronized) {
  DeviceMemory memory(11, 512 * kMiB, false);
  MemoryPool pool(11, &memory, 0);
  char* first = pool.Allocate(30 * kMiB);
  char* second = pool.Allocate(30 * kMiB);
  char* third = pool.Allocate(30 * kMiB);
  EXPECT_EQ(pool.usage().reserved, 96 * kMiB);
  for (char* address : {first, second, third}) pool.Free(address);
  EXPECT_EQ(pool.usage().reserved, 96 * kMiB);
  pool.set_threshold(40 * kMiB);
  pool.Synchronized();
  EXPECT_EQ(pool.usage().reserved, 64 * kMiB);
  pool.set_threshold(0);
  pool.Synchronized();
  EXPECT_EQ(pool.usage().reserved, 0u);
  EXPECT_EQ(pool.usage().reserved_high, 96 * kMiB);
  EXPECT_EQ(pool.usage().used_high, 90 * kMiB);
  pool.ResetReservedHigh();
  pool.ResetUsedHigh();
  EXPECT_EQ(pool.usage().reserved_high, 0u);
  EXPECT_EQ(pool.usage().used_high, 0u);
}

TEST(MemoryPoolTest, takes_less_than_a_chunk_when_that_is_all_there_is) {
  DeviceMemory memory(12, 10 * kPageBytes, false);
  MemoryPool pool(12, &memory, 0);
  EXPECT_NE(pool.Allocate(3 * kMiB), nullptr);
  EXPECT_EQ(pool.usage().reserved, 4 * kMiB);
  EXPECT_EQ(pool.Allocate(17 * kMiB), nullptr);
  EXPECT_EQ(pool.Allocate(SIZE_MAX), nullptr);
}

TEST(MemoryPoolTest, stays_below_its_limit) {
  DeviceMemory memory(13, 512 * kMiB, false);
  MemoryPool pool(13, &memory, 8 * kMiB);
  EXPECT_NE(pool.Allocate(6 * kMiB), nullptr);
  EXPECT_NE(pool.Allocate(2 * kMiB), nullptr);
  EXPECT_EQ(pool.Allocate(512), nullptr);
}

}  // namespace
}  // namespace vramtrack::simcuda
