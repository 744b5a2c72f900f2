// SPDX-License-Identifier: Apache-2.0
//
// The containers of the model against those of the standard library.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/address_table.h"
#include "analyzer/fragmentation/torch_allocator/block_lists.h"

namespace vramtrack::torch_allocator {
namespace {

std::vector<uint32_t> Ids(const FreeList& list) {
  std::vector<uint32_t> ids;
  for (const FreeKey& key : list) ids.push_back(key.id);
  return ids;
}

std::vector<uint32_t> Ids(const std::set<FreeKey>& keys) {
  std::vector<uint32_t> ids;
  for (const FreeKey& key : keys) ids.push_back(key.id);
  return ids;
}

TEST(FreeList, IsSortedBySizeThenAgeThenAddress) {
  FreeList list;
  EXPECT_TRUE(list.empty());
  list.Insert({1024, 2, 0, 512});
  list.Insert({1024, 1, 1, 2048});
  list.Insert({512, 3, 2, 4096});
  list.Insert({1024, 1, 3, 1024});
  EXPECT_EQ(Ids(list), (std::vector<uint32_t>{2, 3, 1, 0}));
  EXPECT_EQ(list.AtLeast(513)->id, 3u);
  EXPECT_EQ(list.AtLeast(1025), list.end());
  EXPECT_EQ(list.largest().id, 0u);
}

TEST(FreeList, IsASortedSet) {
  std::mt19937_64 random(1);
  // Many of one size as well as many sizes, also of the largest and of damaged traces.
  for (const uint64_t sizes : {uint64_t{1}, uint64_t{7}, uint64_t{100000}, uint64_t{1} << 55}) {
    FreeList list;
    std::set<FreeKey> expected;
    for (uint32_t i = 0; i < 20000; ++i) {
      const bool insert = expected.empty() || random() % 100 < (i < 10000 ? 60u : 40u);
      if (insert) {
        const FreeKey key = {512 * (random() % sizes) + (random() % 50 == 0), static_cast<uint32_t>(random() % 4), i,
                             512 * uint64_t{i}};
        list.Insert(key);
        expected.insert(key);
      } else {
        const auto gone = expected.lower_bound({512 * (random() % sizes), 0, 0, 0});
        const auto key = gone == expected.end() ? expected.begin() : gone;
        if (i % 2 == 0) {
          list.Erase(*key);
        } else {
          list.Erase(list.AtLeast(key->bytes));
          expected.erase(expected.lower_bound({key->bytes, 0, 0, 0}));
          continue;
        }
        expected.erase(key);
      }
      const uint64_t wanted = 512 * (random() % sizes);
      const auto fits = expected.lower_bound({wanted, 0, 0, 0});
      ASSERT_EQ(list.AtLeast(wanted) == list.end(), fits == expected.end());
      if (fits != expected.end()) {
        ASSERT_EQ(list.AtLeast(wanted)->id, fits->id);
      }
      ASSERT_EQ(list.empty(), expected.empty());
      if (!expected.empty()) {
        ASSERT_EQ(list.largest().id, expected.rbegin()->id);
      }
      if (i % 500 == 0) {
        ASSERT_EQ(Ids(list), Ids(expected));
      }
    }
    EXPECT_EQ(Ids(list), Ids(expected));
  }
}

TEST(AddressTable, IsAMap) {
  std::mt19937_64 random(2);
  AddressTable table;
  std::map<uint64_t, uint32_t> expected;
  for (uint32_t i = 0; i < 100000; ++i) {
    const uint64_t address = 512 * (random() % 4000);
    if (random() % 2 == 0) {
      table.Set(address, i);
      expected[address] = i;
    } else {
      table.Erase(address);
      expected.erase(address);
    }
    const uint64_t asked = 512 * (random() % 4000);
    const auto found = expected.find(asked);
    ASSERT_EQ(table.Find(asked), found == expected.end() ? AddressTable::kNone : found->second);
  }
  std::map<uint64_t, uint32_t> all;
  table.ForEach([&all](uint64_t address, uint32_t number) { all[address] = number; });
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace vramtrack::torch_allocator
