// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/device_memory.h"

#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace vramtrack::simcuda {
namespace {

constexpr size_t kMiB = size_t{1} << 20;

// What a device must hold for these allocations, counted page by page.
size_t PagesInUse(const std::map<char*, size_t>& live, const char* base) {
  std::set<size_t> pages;
  for (const auto& [address, bytes] : live) {
    const size_t first = static_cast<size_t>(address - base) / kPageBytes;
    const size_t last = static_cast<size_t>(address - base + bytes - 1) / kPageBytes;
    for (size_t page = first; page <= last; ++page) pages.insert(page);
  }
  return pages.size();
}

TEST(DeviceMemoryTest, never_gives_out_a_byte_twice_and_counts_every_page) {
  std::mt19937 random(3);
  DeviceMemory memory(0, 64 * kMiB, false);
  char* base = memory.arena().base();
  std::map<char*, size_t> live;
  size_t refused = 0;
  for (int step = 0; step < 20000; ++step) {
    if (random() % 20 < 11) {
      const size_t limit = size_t{1} << (1 + random() % 24);
      const size_t bytes = 1 + random() % limit;
      char* address = memory.Allocate(bytes);
      if (address == nullptr) {
        ++refused;
        continue;
      }
      ASSERT_EQ(reinterpret_cast<uintptr_t>(address) % (bytes < kMiB ? 512 : kPageBytes), 0u);
      ASSERT_GE(address, base);
      ASSERT_LE(address + bytes, base + memory.arena().bytes());
      auto next = live.lower_bound(address);
      ASSERT_TRUE(next == live.end() || address + bytes <= next->first);
      ASSERT_TRUE(next == live.begin() || std::prev(next)->first + std::prev(next)->second <= address);
      live[address] = bytes;
    } else if (!live.empty()) {
      auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      ASSERT_EQ(memory.Free(victim->first), DeviceMemory::FreeResult::kFreed);
      live.erase(victim);
    }
    if (step % 50 == 0) {
      ASSERT_EQ(memory.used_bytes(), PagesInUse(live, base) * kPageBytes);
      for (const auto& [address, bytes] : live) {
        DeviceMemory::Range range;
        ASSERT_TRUE(memory.Find(address + bytes / 2, &range));
        ASSERT_EQ(range.base, address);
        ASSERT_EQ(range.bytes, bytes);
      }
    }
  }
  EXPECT_GT(refused, 0u);
  size_t visited = 0;
  memory.ForEachAllocation([&](char* address, size_t bytes) {
    ++visited;
    EXPECT_EQ(live[address], bytes);
  });
  EXPECT_EQ(visited, live.size());
  for (const auto& allocation : live) memory.Free(allocation.first);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(DeviceMemoryTest, gives_the_same_addresses_to_the_same_program) {
  const auto run = [] {
    std::mt19937 random(4);
    DeviceMemory memory(1, 256 * kMiB, false);
    std::vector<std::ptrdiff_t> offsets;
    std::vector<char*> live;
    for (int step = 0; step < 3000; ++step) {
      char* address = memory.Allocate(1 + random() % (4 * kMiB));
      offsets.push_back(address - memory.arena().base());
      if (address != nullptr) live.push_back(address);
      if (live.size() > 40) {
        const size_t index = random() % live.size();
        memory.Free(live[index]);
        live.erase(live.begin() + static_cast<long>(index));
      }
    }
    return offsets;
  };
  EXPECT_EQ(run(), run());
}

TEST(DeviceMemoryTest, scattered_free_pages_serve_one_allocation) {
  DeviceMemory memory(2, 20 * kPageBytes, false);
  std::vector<char*> blocks;
  for (int index = 0; index < 20; ++index) blocks.push_back(memory.Allocate(kPageBytes));
  EXPECT_EQ(memory.Allocate(1), nullptr);
  for (int index = 0; index < 20; index += 2) memory.Free(blocks[static_cast<size_t>(index)]);
  EXPECT_EQ(memory.used_bytes(), 10 * kPageBytes);
  EXPECT_EQ(memory.Allocate(11 * kPageBytes), nullptr);
  EXPECT_NE(memory.Allocate(10 * kPageBytes), nullptr);
  EXPECT_EQ(memory.Allocate(1), nullptr);
}

TEST(DeviceMemoryTest, merges_what_is_freed_and_uses_the_lowest_address_again) {
  DeviceMemory memory(3, 16 * kPageBytes, false);
  char* first = memory.Allocate(3 * kPageBytes);
  char* second = memory.Allocate(5 * kPageBytes);
  char* third = memory.Allocate(1000);
  EXPECT_EQ(second, first + 3 * kPageBytes);
  EXPECT_EQ(third, second + 5 * kPageBytes);
  memory.Free(first);
  memory.Free(second);
  EXPECT_EQ(memory.Allocate(8 * kPageBytes), first);
}

TEST(DeviceMemoryTest, an_empty_shared_page_is_no_obstacle) {
  DeviceMemory memory(4, 4 * kPageBytes, false);
  char* small = memory.Allocate(100);
  memory.Free(small);
  EXPECT_EQ(memory.used_bytes(), 0u);
  EXPECT_EQ(memory.Allocate(4 * kPageBytes), small);
}

TEST(DeviceMemoryTest, refuses_to_free_what_is_no_allocation) {
  DeviceMemory memory(5, 16 * kPageBytes, false);
  int on_the_stack = 0;
  char* small = memory.Allocate(5000);
  char* large = memory.Allocate(3 * kPageBytes);
  for (char* wrong : {reinterpret_cast<char*>(&on_the_stack), small + 1, small + 512, large + 1, large + kPageBytes,
                      large + 3 * kPageBytes}) {
    EXPECT_EQ(memory.Free(wrong), DeviceMemory::FreeResult::kNotAnAllocation);
  }
  EXPECT_EQ(memory.Free(small), DeviceMemory::FreeResult::kFreed);
  EXPECT_EQ(memory.Free(small), DeviceMemory::FreeResult::kNotAnAllocation);
  EXPECT_EQ(memory.Free(large), DeviceMemory::FreeResult::kFreed);
  EXPECT_EQ(memory.Free(large), DeviceMemory::FreeResult::kNotAnAllocation);
}

TEST(DeviceMemoryTest, free_all_leaves_what_is_not_linear) {
  DeviceMemory memory(6, 16 * kPageBytes, false);
  memory.Allocate(100);
  memory.Allocate(2 * kPageBytes);
  int owner;
  char* taken = memory.TakePages(2, PageUse::kPool, &owner);
  memory.FreeAll();
  EXPECT_EQ(memory.used_bytes(), 2 * kPageBytes);
  DeviceMemory::Range range;
  ASSERT_TRUE(memory.Find(taken + kPageBytes, &range));
  EXPECT_EQ(range.owner, &owner);
  memory.ReturnPages(taken);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

TEST(DeviceMemoryTest, backing_is_given_back_and_reads_as_zero_again) {
  DeviceMemory memory(7, 16 * kPageBytes, true);
  ASSERT_TRUE(memory.arena().backed());
  char* address = memory.Allocate(3 * kPageBytes);
  memory.arena().Touch(address, 3 * kPageBytes);
  memset(address, 7, 3 * kPageBytes);
  memory.Free(address);
  ASSERT_EQ(memory.Allocate(3 * kPageBytes), address);
  EXPECT_EQ(address[0], 0);
  EXPECT_EQ(address[3 * kPageBytes - 1], 0);
}

TEST(DeviceMemoryTest, holds_nothing_after_many_threads_are_done) {
  DeviceMemory memory(8, 512 * kMiB, false);
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  std::mutex handed_over_mutex;
  std::vector<char*> handed_over;
  for (unsigned number = 0; number < 16; ++number) {
    threads.emplace_back([&, number] {
      std::mt19937 random(number);
      for (int step = 0; step < 2000; ++step) {
        char* address = memory.Allocate(1 + random() % (step % 10 == 0 ? 3 * kMiB : 20000));
        if (address == nullptr) {
          ++failures;
          continue;
        }
        // Half of it is freed by another thread.
        if (random() % 2 == 0) {
          failures += memory.Free(address) != DeviceMemory::FreeResult::kFreed;
          continue;
        }
        std::lock_guard<std::mutex> lock(handed_over_mutex);
        handed_over.push_back(address);
        if (handed_over.size() < 32) continue;
        failures += memory.Free(handed_over.front()) != DeviceMemory::FreeResult::kFreed;
        handed_over.erase(handed_over.begin());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failures, 0);
  for (char* address : handed_over) memory.Free(address);
  EXPECT_EQ(memory.used_bytes(), 0u);
}

}  // namespace
}  // namespace vramtrack::simcuda
