// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/concurrent_table.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>
#include <unordered_map>
#include <vector>

namespace vramtrack {
namespace {

class ConcurrentTableTest : public ::testing::Test {
 protected:
  ConcurrentTableTest() : table_(*static_cast<ConcurrentTable*>(MapPrivate(sizeof(ConcurrentTable)))) {}
  ConcurrentTable& table_;
};

TEST_F(ConcurrentTableTest, FindsWhatWasInsertedUntilItIsRemoved) {
  EXPECT_EQ(table_.Find(7), 0u);
  EXPECT_EQ(table_.Remove(7), 0u);
  EXPECT_TRUE(table_.Insert(7, 70));
  EXPECT_EQ(table_.Find(7), 70u);
  EXPECT_EQ(table_.Remove(7), 70u);
  EXPECT_EQ(table_.Find(7), 0u);
}

TEST_F(ConcurrentTableTest, InsertingAKeyThatIsThereGivesItsOldValue) {
  uint64_t before = 99;
  ASSERT_TRUE(table_.Insert(7, 70, &before));
  EXPECT_EQ(before, 0u);
  ASSERT_TRUE(table_.Insert(7, 71, &before));
  EXPECT_EQ(before, 70u);
  EXPECT_EQ(table_.Remove(7), 71u);
  EXPECT_EQ(table_.Remove(7), 0u);
}

// Addresses as a device gives them out, far more than the first level holds.
TEST_F(ConcurrentTableTest, AgreesWithAMapOverManyRandomOperations) {
  std::mt19937_64 random(1);
  std::unordered_map<uint64_t, uint64_t> model;
  std::vector<uint64_t> keys;
  for (uint64_t i = 1; i <= 400000; ++i) {
    if (keys.empty() || random() % 3 != 0) {
      const uint64_t key = (0x7f0000000000 + random() % 1000000 * 512) << 6 | 1;
      ASSERT_TRUE(table_.Insert(key, i));
      if (model.emplace(key, i).second) keys.push_back(key);
      model[key] = i;
    } else {
      const size_t at = random() % keys.size();
      ASSERT_EQ(table_.Remove(keys[at]), model[keys[at]]);
      model.erase(keys[at]);
      keys[at] = keys.back();
      keys.pop_back();
    }
  }
  for (const auto& [key, value] : model) ASSERT_EQ(table_.Find(key), value);
}

// Each thread has keys of its own, as live addresses are; buckets are shared.
TEST_F(ConcurrentTableTest, ThreadsDoNotDisturbEachOther) {
  constexpr int kThreads = 8, kKeys = 3000, kRounds = 30;
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int round = 1; round <= kRounds; ++round) {
        for (uint64_t k = 1; k <= kKeys; ++k) table_.Insert(k * kThreads + t, k * round);
        for (uint64_t k = 1; k <= kKeys; ++k) wrong += table_.Remove(k * kThreads + t) != k * round;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace vramtrack
