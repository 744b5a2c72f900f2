// SPDX-License-Identifier: Apache-2.0
#include "analyzer/fragmentation/torch_allocator/what_if.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/fragmentation/torch_allocator/request_log.h"

namespace vramtrack::torch_allocator {
namespace {

using Event = RequestLog::Event;

std::vector<Event> EventsOf(const RequestLog& log) {
  std::vector<Event> events;
  RequestLog::Reader reader(log);
  for (Event event; reader.Next(&event);) events.push_back(event);
  return events;
}

TEST(RequestLog, IsReadAsItWasWritten) {
  RequestLog log;
  log.Reserved(2 << 20);
  log.Limit(1 << 30);
  log.NewSegment({uint64_t{1} << 40, 2 << 20});
  log.Allocate(7, 512, 3);
  log.Allocate(8, 1000, 3);
  log.Free(7);
  log.Allocate(9, 512, 3);
  log.GiveBack(5, true);
  log.StepEnd(0);
  log.Told(2 << 20);
  log.OutOfMemory(12345, uint64_t{1} << 35, RequestLog::kNoSegment);
  const std::vector<Event> events = EventsOf(log);
  ASSERT_EQ(events.size(), 11u);
  EXPECT_EQ(events[0].bytes, 2u << 20);
  EXPECT_EQ(events[2].value, uint64_t{1} << 40);
  EXPECT_EQ(events[3].slot, 0u);
  EXPECT_EQ(events[3].segment, 3u);
  EXPECT_EQ(events[4].bytes, 1000u);
  EXPECT_EQ(events[4].slot, 1u);
  EXPECT_EQ(events[5].what, Event::What::kFree);
  EXPECT_EQ(events[5].slot, 0u);
  EXPECT_EQ(events[6].slot, 0u);
  EXPECT_EQ(events[6].bytes, 512u);
  EXPECT_TRUE(events[7].after_refusal);
  EXPECT_EQ(events[10].value, 12345u);
  EXPECT_EQ(events[10].bytes, uint64_t{1} << 35);
  EXPECT_EQ(events[10].segment, RequestLog::kNoSegment);
  EXPECT_EQ(log.out_of_memory(), 1u);
}

TEST(RequestLog, HoldsMoreThanAChunk) {
  RequestLog log;
  std::mt19937_64 random(1);
  std::vector<std::pair<uint64_t, uint32_t>> wanted;
  for (uint32_t i = 0; i < 200000; ++i) {
    wanted.push_back({512 * (1 + random() % 100000), static_cast<uint32_t>(random() % 1000)});
    log.Allocate(i, wanted.back().first, wanted.back().second);
    if (i % 3 != 0) log.Free(i);
  }
  size_t at = 0;
  RequestLog::Reader reader(log);
  for (Event event; reader.Next(&event);) {
    if (event.what != Event::What::kAllocate) continue;
    ASSERT_EQ(event.bytes, wanted[at].first);
    ASSERT_EQ(event.segment, wanted[at].second);
    ++at;
  }
  EXPECT_EQ(at, wanted.size());
}

TEST(RequestLog, EndsWhenItIsFullAndAStepHasEnded) {
  RequestLog log;
  for (uint64_t i = 0; i < RequestLog::kMaxBlocks; ++i) {
    log.Allocate(0, 512, 0);
    log.Free(0);
  }
  EXPECT_TRUE(log.full());
  log.Allocate(1, 512, 0);
  EXPECT_EQ(log.blocks(), RequestLog::kMaxBlocks);
  log.StepEnd(0);
  log.StepEnd(1);
  EXPECT_EQ(EventsOf(log).size(), 2 * RequestLog::kMaxBlocks + 1);
}

// Blocks of sizes that grow: each takes a segment, and the smaller ones stay.
void AddGrowingBlocks(RequestLog* log, uint32_t count) {
  for (uint32_t i = 0; i < count; ++i) {
    log->Allocate(0, (uint64_t{20} + 2 * i) << 20, i);
    log->Free(0);
    log->StepEnd(i);
  }
}

std::vector<Knob> Knobs(const std::vector<std::string>& settings) {
  std::vector<Knob> knobs;
  for (const std::string& setting : settings) knobs.push_back(*ParseKnob(setting));
  return knobs;
}

class TryKnobsTest : public ::testing::Test {
 protected:
  const Requests requests_ = {&log_, &arenas_, &largest_};
  RequestLog log_;
  Arenas arenas_;
  LargestPass largest_;
};

TEST_F(TryKnobsTest, FindTheSameOnSeveralThreads) {
  AddGrowingBlocks(&log_, 20);
  const std::vector<Knob> knobs = Knobs({"expandable_segments:True", "max_split_size_mb:32", "empty_cache:1",
                                         "empty_cache:10", "roundup_power2_divisions:2"});
  WhatIf one = FollowAsItWas(requests_, Knob()), four = one;
  TryKnobs(requests_, knobs, {nullptr, 1}, &one);
  TryKnobs(requests_, knobs, {nullptr, 4}, &four);
  ASSERT_EQ(one.trials.size(), knobs.size());
  ASSERT_EQ(four.trials.size(), knobs.size());
  for (size_t i = 0; i < knobs.size(); ++i) {
    EXPECT_FALSE(one.trials[i].stopped);
    EXPECT_EQ(one.trials[i].knob.setting, four.trials[i].knob.setting);
    EXPECT_EQ(one.trials[i].reserved_peak, four.trials[i].reserved_peak) << knobs[i].setting;
  }
  EXPECT_EQ(one.trials[0].reserved_peak, 60u << 20);
  EXPECT_EQ(one.trials[2].reserved_peak, 58u << 20);
}

TEST_F(TryKnobsTest, StopsWhatCannotWin) {
  AddGrowingBlocks(&log_, 20);
  WhatIf whole = FollowAsItWas(requests_, Knob()), limited = whole;
  const std::vector<Knob> knobs = Knobs({"empty_cache:1", "empty_cache:10", "max_split_size_mb:32"});
  TryKnobs(requests_, knobs, {}, &whole);
  TrialLimits limits;
  limits.may_win = [](uint64_t reserved) { return reserved < 100 << 20; };
  TryKnobs(requests_, knobs, limits, &limited);
  // The best of its family is followed to its end, the other one only until it is worse.
  EXPECT_FALSE(limited.trials[0].stopped);
  EXPECT_EQ(limited.trials[0].reserved_peak, whole.trials[0].reserved_peak);
  EXPECT_TRUE(limited.trials[1].stopped);
  EXPECT_LT(limited.trials[1].reserved_peak, whole.trials[1].reserved_peak);
  EXPECT_TRUE(limited.trials[2].stopped);
}

TEST_F(TryKnobsTest, FollowsToTheLastRequestThatFailed) {
  log_.Limit(100 << 20);
  AddGrowingBlocks(&log_, 3);
  log_.OutOfMemory(1, uint64_t{60} << 20, RequestLog::kNoSegment);
  AddGrowingBlocks(&log_, 3);
  WhatIf outcome = FollowAsItWas(requests_, Knob());
  TrialLimits limits;
  limits.may_win = [](uint64_t) { return false; };
  TryKnobs(requests_, Knobs({"empty_cache:1"}), limits, &outcome);
  EXPECT_TRUE(outcome.trials[0].stopped);
  ASSERT_EQ(outcome.failures.size(), 1u);
  ASSERT_EQ(outcome.failures[0].would_fit.size(), 1u);
  EXPECT_EQ(outcome.failures[0].would_fit[0].free_bytes, 100u << 20);
}

}  // namespace
}  // namespace vramtrack::torch_allocator
