// SPDX-License-Identifier: Apache-2.0
//
// The free list against a set of the standard library.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

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
  EXPECT_EQ(list.begin(), list.end());
  list.Insert({1024, 2, 0, 512});
  list.Insert({1024, 1, 1, 2048});
  list.Insert({512, 3, 2, 4096});
  list.Insert({1024, 1, 3, 1024});
  EXPECT_EQ(Ids(list), (std::vector<uint32_t>{2, 3, 1, 0}));
  EXPECT_EQ(list.AtLeast(513)->id, 3u);
  EXPECT_EQ(list.AtLeast(1025), list.end());
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
        list.Erase(*key);
        expected.erase(key);
      }
      const uint64_t wanted = 512 * (random() % sizes);
      const auto fits = expected.lower_bound({wanted, 0, 0, 0});
      ASSERT_EQ(list.AtLeast(wanted) == list.end(), fits == expected.end());
      if (fits != expected.end()) {
        ASSERT_EQ(list.AtLeast(wanted)->id, fits->id);
      }
      ASSERT_EQ(list.begin() == list.end(), expected.empty());
      if (i % 500 == 0) {
        ASSERT_EQ(Ids(list), Ids(expected));
      }
    }
    EXPECT_EQ(Ids(list), Ids(expected));
  }
}

}  // namespace
}  // namespace vramtrack::torch_allocator
