// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/rank_findings.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/job/job_findings.h"

namespace vramtrack {
namespace {

ReportSite Site(const char* function, uint32_t device, Verdict verdict) {
  ReportSite site;
  site.level = Level::kFramework;
  site.kind = "framework_block";
  site.device = device;
  site.verdict = verdict;
  site.rate_bytes_per_step = 1000;
  ReportFrame frame;
  frame.function = function;
  frame.file = "train.py";
  frame.line = 42;
  site.frames = {frame};
  return site;
}

// `count` ranks that hold nearly the same, each on its own device.
std::vector<ProcessFindings> Job(int count) {
  std::vector<ProcessFindings> processes(static_cast<size_t>(count));
  for (int i = 0; i < count; ++i) {
    ProcessFindings& process = processes[static_cast<size_t>(i)];
    process.process.pid = static_cast<uint32_t>(100 + i);
    process.process.rank = i;
    ReportDevice device;
    device.index = static_cast<uint32_t>(i);
    device.peak.live = (1000 + static_cast<uint64_t>(i % 3)) * kMiB;
    device.end.live = 500 * kMiB;
    device.growth = ReportGrowth{};
    process.devices = {device};
    process.sites = {Site("shared", device.index, Verdict::kSteady)};
  }
  return processes;
}

std::vector<ReportRank> Compare(const std::vector<ProcessFindings>& processes) { return JoinFindings(processes).ranks; }

// "2: leak peak"
std::string Differing(const std::vector<ReportRank>& ranks) {
  std::string text;
  for (const ReportRank& rank : ranks) {
    if (rank.differs.empty()) continue;
    text += (text.empty() ? "" : ", ") + std::to_string(*rank.rank) + ":";
    for (const ReportRank::Difference& difference : rank.differs) text += std::string(" ") + NameOf(difference.what);
  }
  return text;
}

TEST(Ranks, OneProcessIsComparedWithNobody) { EXPECT_TRUE(Compare(Job(1)).empty()); }

TEST(Ranks, AlikeOnesDoNotDiffer) {
  for (const int count : {2, 3, 4, 8, 64}) {
    const std::vector<ReportRank> ranks = Compare(Job(count));
    ASSERT_EQ(ranks.size(), static_cast<size_t>(count));
    EXPECT_EQ(Differing(ranks), "") << count;
  }
}

TEST(Ranks, APeakThatIsOffIsNamed) {
  for (const int count : {2, 3, 4, 8, 64}) {
    std::vector<ProcessFindings> job = Job(count);
    job[1].devices[0].peak.live += 300 * kMiB;
    const std::vector<ReportRank> ranks = Compare(job);
    EXPECT_EQ(Differing(ranks), "1: peak") << count;
    EXPECT_NEAR(ranks[1].differs[0].usual, 1001.0 * kMiB, 1.0 * kMiB);
  }
}

TEST(Ranks, APeakThatIsTooLowIsNamedWhereMostAgree) {
  std::vector<ProcessFindings> job = Job(4);
  job[3].devices[0].peak.live -= 600 * kMiB;
  job[3].devices[0].end.live = 0;
  EXPECT_EQ(Differing(Compare(job)), "3: peak end");
}

TEST(Ranks, ACategoryThatIsOffIsNamedThoughThePeaksAreAlike) {
  for (const int count : {2, 4, 8}) {
    std::vector<ProcessFindings> job = Job(count);
    for (size_t i = 0; i < job.size(); ++i) {
      const uint64_t more = i == 1 ? 200 * kMiB : 0;
      job[i].devices[0].peak_set.categories = {{"activations", 400 * kMiB + more, 1, {}},
                                               {"optimizer_state", 400 * kMiB, 1, {}}};
    }
    const std::vector<ReportRank> ranks = Compare(job);
    EXPECT_EQ(Differing(ranks), "1: category") << count;
    EXPECT_EQ(ranks[1].differs[0].category, "activations");
    EXPECT_DOUBLE_EQ(ranks[1].differs[0].value, 600.0 * kMiB);
    EXPECT_DOUBLE_EQ(ranks[1].differs[0].usual, 400.0 * kMiB);
  }
}

TEST(Ranks, RanksThatAllDifferAreNoOutliers) {
  // A pipeline: every stage has its own size.
  std::vector<ProcessFindings> job = Job(8);
  for (size_t i = 0; i < job.size(); ++i) job[i].devices[0].peak.live = (400 + 150 * i) * kMiB;
  EXPECT_EQ(Differing(Compare(job)), "");
}

TEST(Ranks, ALeakThatOneRankHasIsNamed) {
  for (const int count : {2, 3, 4, 8}) {
    std::vector<ProcessFindings> job = Job(count);
    job[1].sites.push_back(Site("leaky", 1, Verdict::kLeak));
    job[1].devices[0].growth = ReportGrowth{1 << 20, 1 << 20, 1 << 20, {}, 0, 0, {}, {}};
    const Report report = JoinFindings(job);
    const std::vector<ReportRank>& ranks = report.ranks;
    EXPECT_EQ(Differing(ranks), "1: leak growth") << count;
    EXPECT_EQ(ranks[1].differs[0].site, ReportSiteIndex(0));
    EXPECT_EQ(report.sites[0].frames[0].function, "leaky");
    EXPECT_EQ(ranks[1].leaks, 1u);
  }
}

TEST(Ranks, AGrowthThatIsNotKnownIsNone) {
  std::vector<ProcessFindings> job = Job(4);
  for (ProcessFindings& process : job) {
    process.devices[0].growth = ReportGrowth{1 << 20, 1 << 20, 1 << 20, {}, 0, 0, {}, {}};
  }
  job[3].devices[0].growth.reset();
  const std::vector<ReportRank> ranks = Compare(job);
  EXPECT_EQ(Differing(ranks), "");
  EXPECT_FALSE(ranks[3].growth_bytes_per_step);
}

TEST(Ranks, ALeakThatAllHaveIsNoDifference) {
  std::vector<ProcessFindings> job = Job(4);
  for (uint32_t i = 0; i < 4; ++i) job[i].sites.push_back(Site("leaky", i, Verdict::kLeak));
  EXPECT_EQ(Differing(Compare(job)), "");
  // Of the last one too little was seen.
  job[1].sites[1].verdict = job[2].sites[1].verdict = job[3].sites[1].verdict = Verdict::kInsufficientEvidence;
  EXPECT_EQ(Differing(Compare(job)), "");
}

TEST(Ranks, OfSeveralProcessesWithOneRankTheOneWithTheMemoryCounts) {
  std::vector<ProcessFindings> job = Job(4);
  ProcessFindings worker = job[2];
  worker.process.pid = 999;
  worker.devices[0].peak.live = kMiB;
  job.insert(job.begin(), worker);
  ProcessFindings launcher;
  launcher.process.pid = 1;
  job.push_back(launcher);
  const std::vector<ReportRank> ranks = Compare(job);
  ASSERT_EQ(ranks.size(), 4u);
  EXPECT_EQ(ranks[2].pid, 102u);
  EXPECT_EQ(Differing(ranks), "");
}

TEST(Ranks, WithoutRanksProcessesAreCompared) {
  std::vector<ProcessFindings> job = Job(3);
  for (ProcessFindings& process : job) process.process.rank.reset();
  job[2].devices.clear();  // used no device
  const std::vector<ReportRank> ranks = Compare(job);
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_FALSE(ranks[0].rank);
}

}  // namespace
}  // namespace vramtrack
