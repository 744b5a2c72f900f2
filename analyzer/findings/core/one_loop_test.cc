// SPDX-License-Identifier: Apache-2.0
//
// Loops that keep results until they end.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kBase = uint64_t{1} << 40;
constexpr uint64_t kSteps = 60;

// Steps that keep 4 MiB each.
class Loop : public JobBuilder {
 public:
  Loop() : JobBuilder({{"python3", "evaluate.py"}}) {
    Device(65536 * kMiB);
    AllocateAt(4, kBase, 16384 * kMiB);
    BlockAt(3, kBase, 64 * kMiB);
  }
  void Run(uint64_t steps) {
    for (; steps > 0; --steps) {
      const JobObject freed = BlockAt(2, kBase + 64 * kMiB, 32 * kMiB);
      kept.push_back(BlockAt(1, kBase + 128 * kMiB + step() * 4 * kMiB, 4 * kMiB));
      Free(freed);
      EndStep();
    }
  }
  void PutTogether(uint64_t bytes) { Free(BlockAt(5, kBase + 8192 * kMiB, bytes)); }

  std::vector<JobObject> kept;
};

bool Leaks(Loop* loop) {
  bool leaks = false;
  for (const ReportSite& site : FindInJob(loop).sites) leaks |= IsLeak(site);
  return leaks;
}

TEST(GatheredResults, WhatIsPutTogetherAfterTheLoopWasNeeded) {
  Loop loop;
  loop.Run(kSteps);
  loop.PutTogether(kSteps * 4 * kMiB);
  const ProcessFindings findings = FindInJob(&loop);
  for (const ReportSite& site : findings.sites) EXPECT_FALSE(IsLeak(site));
  EXPECT_EQ(ReasonsOf(findings), std::vector<std::string>{"gathered"});
}

TEST(GatheredResults, ItMakesNoDifferenceThatTheyAreFreedThen) {
  Loop loop;
  loop.Run(kSteps);
  loop.PutTogether(kSteps * 4 * kMiB);
  for (const JobObject& one : loop.kept) loop.Free(one);
  EXPECT_FALSE(Leaks(&loop));
}

TEST(GatheredResults, ALoopThatGoesOnLeaks) {
  Loop loop;
  loop.Run(kSteps);
  loop.PutTogether(kSteps * 4 * kMiB);
  loop.Run(kSteps);
  EXPECT_TRUE(Leaks(&loop));
}

TEST(GatheredResults, WhatIsPutTogetherAfterEachEpochAndKeptLeaks) {
  Loop loop;
  for (uint64_t epoch = 1; epoch <= 3; ++epoch) {
    loop.Run(kSteps / 2);
    loop.PutTogether(epoch * kSteps / 2 * 4 * kMiB);
  }
  EXPECT_TRUE(Leaks(&loop));
}

TEST(GatheredResults, ABlockOfAnotherSizeSaysNothing) {
  for (const uint64_t blocks : {kSteps - 1, kSteps + 1}) {
    Loop loop;
    loop.Run(kSteps);
    loop.PutTogether(blocks * 4 * kMiB);
    EXPECT_TRUE(Leaks(&loop)) << blocks;
  }
}

// A loop without marks that makes a cache longer in each round, as one that generates a text does. It begins with
// `first` MiB.
std::vector<Verdict> VerdictsOnCache(uint64_t first, bool marks) {
  JobBuilder job({{"python3", "generate.py"}});
  job.Device(65536 * kMiB);
  job.AllocateAt(4, kBase, 16384 * kMiB);
  job.BlockAt(3, kBase, 64 * kMiB);
  JobObject cache = job.BlockAt(1, 2 * kBase, first * kMiB);
  for (uint64_t round = 1; round <= 200; ++round) {
    for (uint32_t line = 10; line < 16; ++line) job.Free(job.BlockAt(line, kBase + 64 * kMiB, 8 * kMiB));
    const JobObject longer = job.BlockAt(1, 2 * kBase + round * 1024 * kMiB, (first + round) * kMiB);
    job.Free(cache);
    cache = longer;
    if (marks) job.EndStep();
  }
  std::vector<Verdict> verdicts;
  for (const ReportSite& site : FindInJob(&job).sites) {
    if (site.level == Level::kFramework && site.live_bytes > 200 * kMiB) verdicts.push_back(site.verdict);
  }
  return verdicts;
}

TEST(OneLoop, ACacheThatALoopMakesNeedNotGrowAfterIt) {
  EXPECT_EQ(VerdictsOnCache(1, /*marks=*/false), std::vector<Verdict>{Verdict::kInsufficientEvidence});
  EXPECT_EQ(VerdictsOnCache(1, /*marks=*/true), std::vector<Verdict>{Verdict::kGrowingBuffer});
  EXPECT_EQ(VerdictsOnCache(200, /*marks=*/false), std::vector<Verdict>{Verdict::kInsufficientEvidence});
}

}  // namespace
}  // namespace vramtrack
