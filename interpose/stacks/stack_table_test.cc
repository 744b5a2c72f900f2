// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_table.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <set>
#include <string>
#include <thread>
#include <vector>

#include "interpose/stacks/module_map.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {
namespace {

class StackTableTest : public ::testing::Test {
 protected:
  template <typename T>
  static T* Zeroed() {
    return static_cast<T*>(MapPrivate(sizeof(T)));
  }

  void SetUp() override {
    const char* folder = getenv("TEST_TMPDIR");
    const std::string path = std::string(folder != nullptr ? folder : "/tmp") + "/stacks.vtrace";
    unlink(path.c_str());
    ASSERT_EQ(file_->Create(path.c_str(), UINT64_MAX), 0);
  }

  EventWriter* NewWriter(uint32_t thread) {
    auto* writer = Zeroed<EventWriter>();
    writer->Attach(file_, file_->NewJournal(), thread);
    return writer;
  }

  static NativeStack Stack(uint64_t seed, size_t frames) {
    NativeStack stack;
    stack.count = frames;
    for (size_t i = 0; i < frames; ++i) stack.frames[i] = 0x400000 + 16 * i + (i == frames / 2 ? seed << 20 : 0);
    return stack;
  }

  TraceFile* file_ = Zeroed<TraceFile>();
  StackTable* table_ = Zeroed<StackTable>();
  ModuleMap* modules_ = Zeroed<ModuleMap>();
};

TEST_F(StackTableTest, TheSameStackHasTheSameNumber) {
  EventWriter* writer = NewWriter(0);
  std::set<uint32_t> numbers;
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    const uint32_t number = table_->Intern(Stack(seed, 1 + seed % 200), modules_, writer);
    ASSERT_NE(number, 0u);
    ASSERT_TRUE(numbers.insert(number).second) << "two stacks have one number";
  }
  for (uint64_t seed = 0; seed < 5000; ++seed) {
    EXPECT_EQ(numbers.count(table_->Intern(Stack(seed, 1 + seed % 200), modules_, writer)), 1u);
  }
  EXPECT_EQ(table_->count(), 5000u);
}

TEST_F(StackTableTest, ACutStackIsNotTheWholeOne) {
  EventWriter* writer = NewWriter(0);
  NativeStack cut = Stack(1, 20);
  cut.truncated = true;
  EXPECT_NE(table_->Intern(cut, modules_, writer), table_->Intern(Stack(1, 20), modules_, writer));
}

TEST_F(StackTableTest, AnEmptyStackHasNone) { EXPECT_EQ(table_->Intern(NativeStack(), modules_, NewWriter(0)), 0u); }

TEST_F(StackTableTest, ThreadsAgreeOnceAStackIsKnown) {
  constexpr int kThreads = 6;
  constexpr uint64_t kStacks = 500;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    EventWriter* writer = NewWriter(static_cast<uint32_t>(t));
    threads.emplace_back([this, writer] {
      for (int round = 0; round < 20; ++round) {
        for (uint64_t seed = 0; seed < kStacks; ++seed) table_->Intern(Stack(seed, 60), modules_, writer);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EventWriter* writer = NewWriter(kThreads);
  std::set<uint32_t> numbers;
  for (uint64_t seed = 0; seed < kStacks; ++seed) numbers.insert(table_->Intern(Stack(seed, 60), modules_, writer));
  EXPECT_EQ(numbers.size(), kStacks);
  EXPECT_LE(table_->count(), kStacks * kThreads);
}

}  // namespace
}  // namespace vramtrack
