// SPDX-License-Identifier: Apache-2.0
#include "interpose/base/spin_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace vramtrack {
namespace {

TEST(SpinLockTest, KeepsOthersOut) {
  constexpr int kThreads = 200, kRounds = 2000;
  SpinLock lock;
  int count = 0;
  std::vector<std::thread> threads;
  std::atomic<int> refused{0};
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      NoteCurrentThread();
      for (int round = 0; round < kRounds; ++round) {
        const SpinLockHolder hold(&lock);
        hold.held() ? ++count : ++refused;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, kThreads * kRounds);
  EXPECT_EQ(refused.load(), 0);
}

// As where a signal handler ends the process while its thread holds the lock.
TEST(SpinLockTest, IsRefusedToItsHolder) {
  NoteCurrentThread();
  SpinLock lock;
  ASSERT_TRUE(lock.Lock());
  EXPECT_FALSE(lock.Lock());
  EXPECT_FALSE(lock.Lock());
  lock.Unlock();
  EXPECT_TRUE(lock.Lock());
}

TEST(SpinLockTest, IsRefusedWhereItsHolderHasEnded) {
  NoteCurrentThread();
  SpinLock lock;
  std::thread([&] {
    NoteCurrentThread();
    ASSERT_TRUE(lock.Lock());
  }).join();
  EXPECT_FALSE(lock.Lock());
}

TEST(PatienceTest, LastsAsLongAsTurnsChange) {
  Patience patience;
  for (uint32_t turn = 0; turn < 1000; ++turn) ASSERT_TRUE(patience.Lasts(0, turn));
}

TEST(PatienceTest, EndsWithATurnThatUsesNoProcessorTime) {
  std::atomic<uint32_t> thread{0}, word{1};
  std::thread sleeper([&] {
    thread = ThreadId();
    while (word.load() == 1) WaitWhile(&word, 1, 900000000);
  });
  while (thread.load() == 0) std::this_thread::yield();
  Patience patience;
  int looks = 0;
  // It sleeps, but may be woken now and then and has just started: that is progress.
  while (patience.Lasts(thread.load(), 7)) ++looks;
  EXPECT_GE(looks, 200);
  word = 0;
  WakeAll(&word);
  sleeper.join();
}

}  // namespace
}  // namespace vramtrack
