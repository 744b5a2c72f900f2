// SPDX-License-Identifier: Apache-2.0
#include "analyzer/torch_allocator/what_if.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "analyzer/torch_allocator/request_log.h"

namespace vramtrack::torch_allocator {
namespace {

using What = RequestLog::What;

TEST(RequestLog, EndsWhenItIsFull) {
  RequestLog log;
  log.BeginPass();
  for (uint64_t i = 0; i < RequestLog::kMaxBlocks; ++i) {
    log.Add(What::kAllocate, 512);
    log.Add(What::kFree, 0);
  }
  log.EndPass();
  EXPECT_TRUE(log.full());
  EXPECT_EQ(log.pass_begin(), log.pass_end());
  log.Add(What::kAllocate, 512);
  log.Add(What::kStepEnd, 0);
  log.NewSegment({1, 2});
  log.OutOfMemory({});
  EXPECT_EQ(log.blocks(), RequestLog::kMaxBlocks);
  EXPECT_EQ(log.events().size(), 2 * RequestLog::kMaxBlocks - 1);
  EXPECT_TRUE(log.new_segments().empty());
  EXPECT_TRUE(log.failures().empty());
}

TEST(RequestLog, RecordsOnlyChangesOfReservedBytesAndLimit) {
  RequestLog log;
  for (int i = 0; i < 3; ++i) {
    log.Reserved(2 << 20);
    log.Limit(1 << 30);
  }
  ASSERT_EQ(log.events().size(), 2u);
  EXPECT_EQ(log.events()[0].what, What::kReserved);
  EXPECT_EQ(log.events()[1].value, 1u << 30);
}

// Blocks of sizes that grow: each takes a segment, and the smaller ones stay.
void AddGrowingBlocks(RequestLog* log, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    log->Add(What::kAllocate, (uint64_t{20} + 2 * i) << 20, 0, i);
    log->Add(What::kFree, 0);
    log->Add(What::kStepEnd, i);
  }
}

std::vector<Knob> Knobs(const std::vector<std::string>& settings) {
  std::vector<Knob> knobs;
  for (const std::string& setting : settings) {
    for (const Knob& knob : KnobsToTry({}, /*has_steps=*/true, /*has_pass=*/true)) {
      if (knob.setting == setting) knobs.push_back(knob);
    }
  }
  EXPECT_EQ(knobs.size(), settings.size());
  return knobs;
}

class TryKnobsTest : public ::testing::Test {
 protected:
  std::vector<WhatIf::Trial> Try(const std::vector<std::string>& settings, const MayWin& may_win = nullptr,
                                 size_t threads = 1) {
    return TryKnobs(log_, arenas_, Knobs(settings), may_win, threads);
  }

  RequestLog log_;
  Arenas arenas_;
};

TEST_F(TryKnobsTest, FindTheSameOnSeveralThreads) {
  AddGrowingBlocks(&log_, 20);
  const std::vector<std::string> settings = {"expandable_segments:True", "empty_cache:1", "empty_cache:10",
                                             "roundup_power2_divisions:2"};
  const std::vector<WhatIf::Trial> one = Try(settings), four = Try(settings, nullptr, 4);
  ASSERT_EQ(one.size(), settings.size());
  ASSERT_EQ(four.size(), settings.size());
  for (size_t i = 0; i < settings.size(); ++i) {
    EXPECT_FALSE(one[i].stopped);
    EXPECT_EQ(one[i].knob.setting, settings[i]);
    EXPECT_EQ(four[i].knob.setting, settings[i]);
    EXPECT_EQ(one[i].reserved_peak, four[i].reserved_peak) << settings[i];
  }
  EXPECT_EQ(one[0].reserved_peak, 60u << 20);
  EXPECT_EQ(one[1].reserved_peak, 58u << 20);
}

TEST_F(TryKnobsTest, StopWhatCannotWin) {
  AddGrowingBlocks(&log_, 20);
  const std::vector<std::string> settings = {"empty_cache:1", "empty_cache:10", "roundup_power2_divisions:2"};
  const auto limited = Try(settings, [](uint64_t reserved) { return reserved < 100 << 20; });
  const auto whole = Try(settings);
  // What may win is followed to its end.
  EXPECT_FALSE(limited[0].stopped);
  EXPECT_EQ(limited[0].reserved_peak, whole[0].reserved_peak);
  EXPECT_TRUE(limited[1].stopped);
  EXPECT_LT(limited[1].reserved_peak, whole[1].reserved_peak);
  EXPECT_TRUE(limited[2].stopped);
}

TEST_F(TryKnobsTest, FollowToTheLastRequestThatFailed) {
  log_.Limit(100 << 20);
  AddGrowingBlocks(&log_, 3);
  log_.OutOfMemory({1, uint64_t{60} << 20, RequestLog::kNoSegment});
  AddGrowingBlocks(&log_, 3);
  const std::vector<WhatIf::Trial> trials = Try({"empty_cache:1"}, [](uint64_t) { return false; });
  EXPECT_TRUE(trials[0].stopped);
  EXPECT_EQ(trials[0].fits, std::vector<std::optional<uint64_t>>{100u << 20});
}

TEST_F(TryKnobsTest, MakeTheRequestsOfTheLargestStepFirst) {
  AddGrowingBlocks(&log_, 1);
  log_.Add(What::kAllocate, uint64_t{22} << 20);
  log_.Add(What::kFree, 0);
  log_.Add(What::kStepEnd, 1);
  log_.BeginPass();
  log_.Add(What::kAllocate, uint64_t{60} << 20);
  log_.Add(What::kFree, 0);
  log_.EndPass();
  const std::vector<WhatIf::Trial> trials = Try({"empty_cache:10", "preallocate:largest"});
  EXPECT_EQ(trials[0].reserved_peak, uint64_t{20 + 22 + 60} << 20);
  EXPECT_EQ(trials[1].reserved_peak, uint64_t{20 + 60} << 20);
}

}  // namespace
}  // namespace vramtrack::torch_allocator
