// SPDX-License-Identifier: Apache-2.0
#include "tests/corpus/emulation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "tests/corpus/block_allocator.h"
#include "tests/corpus/cases.h"
#include "tests/corpus/score.h"
#include "tests/corpus/suites.h"

namespace vramtrack::corpus {
namespace {

const Case& CaseOf(const std::string& id) {
  return *std::find_if(Cases().begin(), Cases().end(), [&](const Case& one) { return one.id == id; });
}

RunOptions Steps(int steps) {
  RunOptions options;
  options.steps = steps;
  options.seed = 11;
  return options;
}

TEST(Emulation, TheSameOptionsGiveTheSameBytes) {
  for (const char* id : {"C1", "C14", "C40", "L4"}) {
    const Case& one = CaseOf(id);
    EXPECT_EQ(Emulate(one.shape, one.flows, Steps(40)).trace, Emulate(one.shape, one.flows, Steps(40)).trace) << id;
  }
}

TEST(Emulation, AShorterRunIsTheBeginningOfALongerOne) {
  const Case& one = CaseOf("C2");
  const Emulation longer = Emulate(one.shape, one.flows, Steps(60)), shorter = Emulate(one.shape, one.flows, Steps(30));
  for (size_t site = 0; site < shorter.sites.size(); ++site) {
    const std::vector<double>& live = longer.sites[site].live_by_step;
    EXPECT_EQ(shorter.sites[site].live_by_step, std::vector<double>(live.begin(), live.begin() + 30)) << site;
  }
}

TEST(Emulation, WhatLeaksIsLiveAtTheEnd) {
  for (const Case& one : Cases()) {
    const Emulation run = Emulate(one.shape, one.flows, Steps(100));
    EXPECT_EQ(run.truth.leaks.empty(), !one.IsLeak()) << one.id;
    for (const TrueLeak& leak : run.truth.leaks) {
      const SiteRecord& site = run.sites[leak.site];
      // The rate is of the steps from warm-up or the onset on, half of the run at least.
      EXPECT_GE(site.live_objects, leak.objects_per_step * 48) << one.id;
      EXPECT_GE(site.live_bytes, leak.bytes_per_step * 48) << one.id;
    }
  }
}

TEST(Emulation, ACorrectedJobKeepsNothingOfWhatLeaked) {
  for (const Case& one : Cases()) {
    EXPECT_TRUE(Emulate(one.shape, one.fixed, Steps(60)).truth.leaks.empty()) << one.id;
  }
}

TEST(Emulation, NamesCarryNoInformation) {
  Selection selection;
  selection.steps = {60};
  selection.seeds = 1;
  size_t number = 0;
  for (RunSpec run : CaseRuns(selection)) {
    if (run.variant == Variant::kFixed || ++number % 2 == 0) continue;
    const RunScore as_named = Score(run);
    run.options.naming.scramble = 77;
    const RunScore renamed = Score(run);
    EXPECT_EQ(as_named.ours.found, renamed.ours.found) << run.id;
    EXPECT_EQ(as_named.ours.rank, renamed.ours.rank) << run.id;
    EXPECT_EQ(as_named.ours.false_sites, renamed.ours.false_sites) << run.id;
    EXPECT_EQ(as_named.rate_error, renamed.rate_error) << run.id;
    EXPECT_EQ(as_named.classes, renamed.classes) << run.id;
  }
}

TEST(BlockAllocator, BlocksNeverOverlapAndAreUsedAgain) {
  std::mt19937_64 random(5);
  BlockAllocator allocator;
  std::map<uint64_t, uint64_t> live;
  uint64_t reserved = 0;
  for (int i = 0; i < 20000; ++i) {
    if (live.size() > 200 || (!live.empty() && random() % 2 == 0)) {
      auto victim = live.lower_bound(random() % (uint64_t{1} << 47));
      if (victim == live.end()) victim = live.begin();
      allocator.Free(victim->first);
      live.erase(victim);
      continue;
    }
    const uint64_t bytes = 1 + random() % (random() % 4 == 0 ? 30 * kMiB : 64 * kKiB);
    const BlockAllocator::Block block = allocator.Allocate(bytes, random() % 2);
    reserved += block.new_segment_bytes;
    ASSERT_GE(block.bytes, bytes);
    const auto next = live.lower_bound(block.address);
    if (next != live.end()) {
      ASSERT_LE(block.address + block.bytes, next->first);
    }
    if (next != live.begin()) {
      ASSERT_LE(std::prev(next)->first + std::prev(next)->second, block.address);
    }
    live[block.address] = block.bytes;
  }
  EXPECT_LT(reserved, 20 * kGiB);
}

}  // namespace
}  // namespace vramtrack::corpus
