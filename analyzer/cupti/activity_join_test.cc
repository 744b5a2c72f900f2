// SPDX-License-Identifier: Apache-2.0
//
// A random program, seen by hooks and by CUPTI, each of which misses what is known here.
#include "analyzer/cupti/activity_join.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/cupti/testing/recorded_activities.h"
#include "analyzer/ledger/ledger.h"
#include "proto/frame.h"

namespace vramtrack {
namespace {

// Replays and joins; the trace and the ledger stay as long as this.
struct Joined {
  explicit Joined(std::string file) : bytes(std::move(file)) {
    trace = *Trace::Read(bytes, "test");
    join = std::make_unique<ActivityJoin>(*trace);
    LedgerOptions options;
    options.unseen = &join->unseen();
    ledger = std::make_unique<Ledger>(*trace, StepPlan{}, options);
    ledger->Replay();
  }
  std::string bytes;
  std::unique_ptr<Trace> trace;
  std::unique_ptr<ActivityJoin> join;
  std::unique_ptr<Ledger> ledger;
};

// `skew`: CUPTI's clock runs ahead of the trace's by so much, whatever the ties say.
void ExpectRandomProgramJoined(int64_t skew, uint32_t seed) {
  Recording recording;
  recording.Span(true, 1, "");
  std::mt19937 random(seed);
  struct Live {
    AllocationId id;
    uint64_t bytes;
    bool hidden;
  };
  std::map<uint64_t, Live> live;  // by address
  uint64_t now_live = 0, peak = 0;
  uint64_t time = 1000000, both = 0, both_bytes = 0, hidden = 0, hidden_bytes = 0, unheard = 0;
  const auto at = [&](uint64_t t) { return static_cast<uint64_t>(static_cast<int64_t>(t) + skew); };
  for (int i = 0; i < 20000; ++i) {
    time += 10000 + random() % 20000;
    const uint64_t address = 0x7f0000000000 + (random() % 300) * (1 << 20);
    const auto found = live.find(address);
    if (found == live.end()) {
      const uint32_t who = random() % 10;
      // What CUPTI does not tell of is no candidate for what hooks do not see.
      const uint64_t bytes = 512 * (1 + random() % 5) + (who == 1 ? 256 : 0);
      Live object = {{}, bytes, who == 0};
      if (who != 1) {
        recording.Tell(at(time), kActivityAllocated, address, bytes, who == 0 ? "/lib/libhidden.so" : "/bin/app");
      }
      if (who != 0) object.id = recording.Hook(time + 3000, schema::DEVICE, address, bytes);
      live[address] = object;
      (who == 0 ? hidden : who == 1 ? unheard : both)++;
      if (who == 0) hidden_bytes += bytes;
      if (who > 1) both_bytes += bytes;
      now_live += bytes;
      peak = std::max(peak, now_live);
    } else {
      if (!found->second.hidden) recording.HookFree(time, schema::DEVICE, found->second.id);
      recording.Tell(at(time + 3000), kActivityReleased, address, found->second.bytes, "");
      now_live -= found->second.bytes;
      live.erase(found);
    }
  }
  uint64_t hidden_live = 0, hidden_live_bytes = 0;
  for (const auto& [address, object] : live) {
    hidden_live += object.hidden;
    hidden_live_bytes += object.hidden ? object.bytes : 0;
  }
  const Joined result(recording.Finish(time + 100000));
  const ActivityJoin& join = *result.join;
  EXPECT_EQ(join.joined(), both);
  EXPECT_EQ(join.joined_bytes(), both_bytes);
  EXPECT_EQ(join.other_sizes(), 0u);
  ASSERT_EQ(join.only_cupti().size(), 1u);
  const auto& [key, only] = *join.only_cupti().begin();
  EXPECT_EQ(std::get<0>(key), "libhidden.so");
  EXPECT_EQ(only.allocations, hidden);
  EXPECT_EQ(only.bytes, hidden_bytes);
  EXPECT_EQ(only.live_objects, hidden_live);
  EXPECT_EQ(only.live_bytes, hidden_live_bytes);
  ASSERT_EQ(join.only_hooks().size(), 1u);
  EXPECT_EQ(join.only_hooks().at(schema::DEVICE).allocations, unheard);

  // The ledger has all of it, as it came and went.
  uint64_t all_live_bytes = 0;
  for (const auto& [address, object] : live) all_live_bytes += object.bytes;
  ASSERT_EQ(result.ledger->sites().size(), 2u);
  EXPECT_EQ(result.ledger->scopes()[0].live, all_live_bytes);
  EXPECT_EQ(result.ledger->scopes()[0].peak, peak);
  for (const Site& site : result.ledger->sites()) {
    if (!join.unseen().Has(site.key)) continue;
    EXPECT_EQ(join.unseen().LibraryOf(site.key), "libhidden.so");
    EXPECT_EQ(site.allocations, hidden);
    EXPECT_EQ(site.bytes_allocated, hidden_bytes);
    EXPECT_EQ(site.live_bytes, hidden_live_bytes);
  }
}

TEST(ActivityJoin, KnowsWhatOneOfTheTwoDidNotSee) {
  for (uint32_t seed = 0; seed < 5; ++seed) ExpectRandomProgramJoined(0, seed);
}

TEST(ActivityJoin, ClocksMayDisagreeByMicroseconds) {
  for (const int64_t skew : {-2000, -1000, 1000, 2000}) ExpectRandomProgramJoined(skew, 7);
}

TEST(ActivityJoin, WhatHooksSawWhileCuptiWasAwayIsNoFinding) {
  Recording recording;
  recording.Hook(1000, schema::DEVICE, 0x1000000, 512);
  recording.Span(true, 2000, "");
  recording.Tell(2900, kActivityAllocated, 0x2000000, 1024, "app");
  recording.Hook(3000, schema::DEVICE, 0x2000000, 1024);
  recording.Hook(3500, schema::PHYSICAL, 0x77, 2 << 20);
  recording.Span(false, 4000, "another tool asked CUPTI for its records");
  recording.Hook(5000, schema::DEVICE, 0x3000000, 2048);
  recording.Hook(9000, schema::DEVICE, 0x4000000, 2048);
  const Joined result(recording.Finish(4000));
  EXPECT_EQ(result.join->joined(), 1u);
  EXPECT_TRUE(result.join->only_cupti().empty());
  ASSERT_EQ(result.join->only_hooks().size(), 1u);
  EXPECT_EQ(result.join->only_hooks().at(schema::PHYSICAL).bytes, 2u << 20);
  EXPECT_EQ(result.join->joined_kinds().count(schema::PHYSICAL), 0u);
  ASSERT_EQ(result.join->gaps().size(), 2u);
  EXPECT_EQ(result.join->gaps()[1].begin, 4000u);
  EXPECT_EQ(result.join->gaps()[1].why, "another tool asked CUPTI for its records");
}

// Nothing is given out twice: what was not recognised as the same is not counted twice in the ledger.
TEST(ActivityJoin, WhatWasNotRecognisedIsNoMemoryOfItsOwn) {
  Recording recording;
  recording.Span(true, 1, "");
  for (uint64_t i = 1; i <= 3; ++i) {
    const uint64_t address = i << 24, time = i * 100000000;
    recording.Tell(time, kActivityAllocated, address, 1024, "app");
    recording.Hook(time + 3000, schema::DEVICE, address, 1024);
  }
  // The clocks were apart for a moment.
  recording.Tell(400200000, kActivityAllocated, 0x9000000, 4096, "app");
  recording.Hook(400000000, schema::DEVICE, 0x9000000, 4096);
  recording.Tell(500000000, kActivityAllocated, 0xa000000, 4096, "liba.so");
  const Joined result(recording.Finish(600000000));
  EXPECT_EQ(result.join->joined(), 3u);
  EXPECT_EQ(result.join->only_cupti().size(), 2u);
  ASSERT_EQ(result.join->unseen().changes.size(), 1u);
  EXPECT_EQ(result.join->unseen().libraries, std::vector<std::string>{"liba.so"});
  EXPECT_EQ(result.ledger->scopes()[0].live, 3 * 1024u + 2 * 4096u);
}

TEST(ActivityJoin, WhereMostIsNotRecognisedNothingIsAdded) {
  Recording recording;
  recording.Span(true, 1, "");
  for (uint64_t i = 1; i <= 3; ++i) {
    recording.Tell(i * 100000000 + 50000000, kActivityAllocated, i << 24, 1024, "app");
    recording.Hook(i * 100000000, schema::DEVICE, i << 24, 1024);
  }
  const Joined result(recording.Finish(600000000));
  EXPECT_EQ(result.join->joined(), 0u);
  EXPECT_TRUE(result.join->unseen().changes.empty());
}

// Kernels are most of the records, and the lost ones may still be frees.
TEST(ActivityJoin, LostRecordsMayAllHaveBeenFrees) {
  Recording recording;
  recording.Span(true, 1, "");
  uint64_t time = 1000000;
  for (int i = 0; i < 30; ++i) {
    const uint64_t address = 0x7f0000000000 + static_cast<uint64_t>(i) * (1 << 20);
    recording.Tell(time += 100000, kActivityAllocated, address, 512, "/lib/libhidden.so");
    if (i % 3 == 0) recording.Tell(time += 100000, kActivityReleased, address, 512, "");
    for (int kernel = 0; kernel < 20; ++kernel) recording.Run(schema::ACTIVITY_KERNEL, time += 1000, 500, "attend");
  }
  std::string file = recording.Finish(time + 100000);
  EXPECT_EQ(Joined(file).join->unseen().lost_share, 0);
  const uint64_t dropped = 3, unwritten = 2;
  std::memcpy(&file[kHeaderCountersOffset + 8 * schema::COUNTER_ACTIVITIES_DROPPED], &dropped, 8);
  std::memcpy(&file[kHeaderCountersOffset + 8 * schema::COUNTER_ACTIVITIES_UNWRITTEN], &unwritten, 8);
  EXPECT_DOUBLE_EQ(Joined(file).join->unseen().lost_share, 5.0 / (10 + 5));
}

TEST(ActivityJoin, AnAddressThatIsGivenOutAgainHadBeenGivenBack) {
  Recording recording;
  recording.Span(true, 1, "");
  for (uint64_t i = 1; i <= 3; ++i) recording.Tell(i * 1000000, kActivityAllocated, 0x9000000, 1024, "liba.so");
  recording.Hook(9000000, schema::REGISTERED, 0x77770000, 512);
  const Joined result(recording.Finish(9000000));
  ASSERT_EQ(result.ledger->sites().size(), 2u);
  EXPECT_EQ(result.ledger->sites()[SiteIndex(0)].live_bytes, 1024u);
  EXPECT_EQ(result.ledger->sites()[SiteIndex(0)].allocations, 3u);
}

TEST(ActivityJoin, ArraysMeetByTheirSizes) {
  Recording recording;
  recording.Span(true, 1, "");
  recording.Tell(900, kActivityAllocated, 0x9000000, 16384, "app", kActivityArray);
  recording.Hook(1000, schema::ARRAY, 0x55550001, 16384);
  recording.Tell(1900, kActivityAllocated, 0x9100000, 777, "libother.so", kActivityArray);
  recording.Tell(2000, kActivityReleased, 0x9100000, 777, "", kActivityArray);
  const Joined result(recording.Finish(3000));
  EXPECT_EQ(result.join->joined(), 1u);
  ASSERT_EQ(result.join->only_cupti().size(), 1u);
  EXPECT_EQ(result.join->only_cupti().begin()->second.live_bytes, 0u);
  EXPECT_TRUE(result.join->only_hooks().empty());
}

// NVIDIA's CUPTI 13.0 reports each level of a mipmapped array, and names the caller of the driver: the tracer.
TEST(ActivityJoin, WhatCameThroughAHookIsNotUnseen) {
  Recording recording;
  recording.Span(true, 1, "");
  recording.Hook(1000, schema::MIPMAPPED_ARRAY, 0x55550001, 43520);
  for (uint64_t i = 0; i < 4; ++i) {
    recording.Tell(900, kActivityAllocated, 0x9000000 + (i << 21), 32768 >> 2 * i, "/lib/libvramtrack.so",
                   kActivityArray);
  }
  const Joined result(recording.Finish(3000));
  EXPECT_TRUE(result.join->only_cupti().empty());
  EXPECT_EQ(result.ledger->sites().size(), 1u);
}

TEST(ActivityClock, FollowsADrift) {
  ActivityClock clock;
  for (uint64_t i = 1; i <= 10; ++i) clock.Add(i * 1000000000, i * 2000100000);
  clock.Freeze(2e9);
  EXPECT_EQ(clock.Ticks(3500000000), 3 * uint64_t{2000100000} + 1000050000);
  EXPECT_EQ(clock.Ticks(11000000000), 11 * uint64_t{2000100000});
  EXPECT_EQ(clock.Ticks(500000000), uint64_t{2000100000} - 1000050000);
  EXPECT_EQ(ActivityClock().Ticks(5), 0u);
}

}  // namespace
}  // namespace vramtrack
