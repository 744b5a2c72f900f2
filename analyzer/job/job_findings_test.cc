// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "analyzer/job/testing/sample_job.h"
#include "analyzer/model/answer.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/text.h"

namespace vramtrack {
namespace {

ReportHolder HolderAt(const std::string& path) {
  ReportHolder holder;
  holder.path = path;
  holder.how = HolderKind::kEntries;
  return holder;
}

// A job with a bit of everything: parts of leaks, failed allocations, what was given back, pinned memory, ties.
std::vector<ProcessFindings> RandomJob(std::mt19937_64& random) {
  std::vector<ProcessFindings> job;
  const bool ranks = random() % 4 != 0;
  const int count = 1 + static_cast<int>(random() % 12);
  for (int i = 0; i < count; ++i) {
    ProcessFindings process = SampleRank(i);
    if (!ranks || random() % 8 == 0) process.process.rank.reset();
    if (random() % 8 == 0) process.process.rank = 0;
    process.steps.count = 99 + random() % 3;
    ReportDevice& device = process.devices[0];
    const uint32_t index = device.index = static_cast<uint32_t>(random() % 3);
    device.peak.reserved = (1000 + random() % 2) * kMiB;
    process.timeline[0].device = index;
    for (int s = 0; s < 8; ++s) {
      const Verdict verdict = s % 2 == 0   ? Verdict::kLeak
                              : s % 3 == 0 ? Verdict::kSteady
                                           : Verdict::kInsufficientEvidence;
      process.sites.push_back(SampleSite(absl::StrCat("site_", s), index, verdict, 0.1 + 0.3 * (random() % 3)));
      ReportSite& site = process.sites.back();
      site.explanation = absl::StrCat("said by ", process.process.pid);
      site.bytes_at_peak = random() % 2;
      if (random() % 3 == 0) site.holder = HolderAt(absl::StrCat("seen by ", process.process.pid));
      if (s > 0 && s % 2 == 0 && random() % 2 == 0) {
        site.part_of = ReportSiteIndex(static_cast<uint32_t>(random() % 2 == 0 ? 0 : s - 2));
        site.group.reset();
      }
    }
    std::shuffle(process.sites.begin() + 7, process.sites.end(), random);
    ReportTimeline host = process.timeline[0];
    host.device.reset();
    if (random() % 2 == 0) process.timeline.push_back(host);
    process.warnings = {"libthis.so is not there", absl::StrCat("/tmp/", process.process.pid, ".vtrace: 3 lost")};
    ReportOom oom;
    oom.device = index;
    oom.requested = process.process.pid;
    oom.holders = {{ReportSiteIndex(0), 1}, {ReportSiteIndex(3), 2}};
    if (random() % 2 == 0) process.oom = {oom};
    ReportRelease release;
    release.calls = release.segments = 1;
    release.bytes = release.least = release.most = (1 + random() % 2) * kMiB;
    release.times = {{1, 0.5 + i, release.bytes}};
    release.stack = process.sites[0].frames;
    process.releases = {release};
    process.verdict_counts = {{"leak", 4}, {"steady", 2}};
    ReportGrowthLedger grown;
    grown.grown = static_cast<int64_t>(random() % 2);
    grown.from = process.process.pid;
    ReportGrowthLine line;
    line.line = absl::StrCat("seen by ", process.process.pid);
    line.sites = {ReportSiteIndex(0)};
    grown.lines = {line};
    if (random() % 4 != 0) process.pinned_growth = grown;
    if (random() % 4 != 0) process.handle_growth = grown;
    process.reasons = {{"chance", absl::StrCat("grows by ", process.process.pid)}, {"uncovered", "few steps"}};
    job.push_back(std::move(process));
  }
  return job;
}

TEST(JobFindings, ReasonsKeepTheirIdsAndLedgersTheirSites) {
  std::vector<ProcessFindings> job;
  for (int i = 0; i < 8; ++i) {
    ProcessFindings process = SampleRank(i);
    process.sites.push_back(SampleSite(absl::StrCat("only_", i), 0, Verdict::kLeak, 0.5));
    process.reasons = {{"chance", absl::StrCat("grows by ", process.process.pid)}, {"uncovered", "few steps"}};
    ReportGrowthLedger grown;
    grown.grown = i == 5 ? 100 : i;
    ReportGrowthLine line;
    line.sites = {ReportSiteIndex(static_cast<uint32_t>(process.sites.size() - 1))};
    grown.lines = {line};
    process.pinned_growth = process.handle_growth = grown;
    job.push_back(std::move(process));
  }
  const Report report = JoinFindings(job);
  size_t chance = 0, uncovered = 0;
  for (const ReportReason& reason : report.reasons) {
    chance += reason.id == "chance";
    uncovered += reason.id == "uncovered";
    EXPECT_EQ(reason.text.find('\n'), std::string::npos) << reason.text;
  }
  EXPECT_EQ(uncovered, 1u);
  EXPECT_EQ(chance + uncovered, report.reasons.size()) << "none is without an id";
  EXPECT_EQ(report.reasons[0].id, "chance");
  for (const auto& growth : {report.pinned_growth, report.handle_growth}) {
    ASSERT_TRUE(growth.has_value());
    EXPECT_EQ(growth->grown, 100);
    ASSERT_EQ(growth->lines.at(0).sites.size(), 1u);
    const ReportSite* const site = FindSite(report, growth->lines[0].sites[0]);
    ASSERT_NE(site, nullptr);
    ASSERT_FALSE(site->frames.empty());
    EXPECT_NE(site->frames[0].function.find("only_5"), std::string::npos) << site->frames[0].function;
  }
}

TEST(JobFindings, AProcessWithoutStepsBesideOneWithStepsLeavesNoDoubt) {
  std::vector<ProcessFindings> job = {SampleRank(0), SampleRank(1)};
  for (ProcessFindings& process : job) process.sites.clear();
  job[0].steps = {};
  job[0].reasons = {{"no_steps", "no steps were found"}};
  EXPECT_TRUE(JoinFindings(job).reasons.empty());
  job[1].steps = {};
  job[1].reasons = job[0].reasons;
  const Report report = JoinFindings(job);
  ASSERT_EQ(report.reasons.size(), 1u);
  EXPECT_EQ(report.reasons[0].id, "no_steps");
}

TEST(JobFindings, TheOrderOfTheProcessesMakesNoDifference) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<ProcessFindings> job = RandomJob(random);
    const std::string report = RenderJson(JoinFindings(job));
    for (int shuffled = 0; shuffled < 3; ++shuffled) {
      std::shuffle(job.begin(), job.end(), random);
      ASSERT_EQ(RenderJson(JoinFindings(job)), report) << round;
    }
  }
}

TEST(JobFindings, ProcessesComeByRankAndThenThoseWithout) {
  std::vector<ProcessFindings> job = {SampleRank(2), SampleRank(0), SampleRank(1), SampleRank(1)};
  job[0].process.rank.reset();
  job[3].process.pid = 7;
  const Report report = JoinFindings(job);
  ASSERT_EQ(report.processes.size(), 4u);
  EXPECT_EQ(report.processes[0].pid, 1000u);
  EXPECT_EQ(report.processes[1].pid, 7u);
  EXPECT_EQ(report.processes[2].pid, 1001u);
  EXPECT_EQ(report.processes[3].pid, 1002u);
  EXPECT_EQ(report.ranks.size(), 2u);
}

TEST(JobFindings, AWalkInOneProcessSaysWhoHoldsASiteInAll) {
  std::vector<ProcessFindings> job;
  for (int rank = 0; rank < 4; ++rank) {
    job.push_back(SampleRank(rank));
    job.back().sites = {SampleSite("leaks", 0, Verdict::kLeak, rank == 1 ? 9 : 1)};
    job.back().walks.resize(1);
    job.back().walks[0].moment = WalkMoment::kExit;
  }
  job[2].sites[0].holder = HolderAt("in rank 2");
  job[3].sites[0].holder = HolderAt("in rank 3");
  Report report = JoinFindings(job);
  ASSERT_EQ(report.sites.size(), 1u);
  ASSERT_TRUE(report.sites[0].holder.has_value());
  EXPECT_EQ(report.sites[0].holder->path, "in rank 2") << "the worst process made no walk";
  job[1].sites[0].holder = HolderAt("in the worst rank");
  report = JoinFindings(job);
  EXPECT_EQ(report.sites[0].holder->path, "in the worst rank");
  ASSERT_EQ(report.walks.size(), 4u);
  EXPECT_EQ(report.walks[3].pid, report.processes[3].pid);
}

TEST(JobFindings, NothingAndAlmostNothing) {
  EXPECT_TRUE(FindingsJoin().Finish().processes.empty());
  const Report report = JoinFindings({ProcessFindings(), SampleRank(3), ProcessFindings()});
  EXPECT_EQ(report.processes.size(), 3u);
  EXPECT_TRUE(report.sites.empty());
  EXPECT_TRUE(report.ranks.empty());
  EXPECT_EQ(report.steps.count, 100u);
}

TEST(JobFindings, ProcessesThatContradictEachOtherInACircleHaveOneLeak) {
  std::vector<ProcessFindings> job = {SampleRank(0), SampleRank(8), SampleRank(16)};
  for (size_t i = 0; i < 3; ++i) {
    // Each says of another site that the next one leads it.
    const std::string first = absl::StrCat("site_", i), second = absl::StrCat("site_", (i + 1) % 3);
    job[i].sites = {SampleSite(first, 0, Verdict::kLeak, 1), SampleSite(second, 0, Verdict::kLeak, 1)};
    job[i].sites[0].part_of = ReportSiteIndex(1);
    job[i].sites[1].part_of = ReportSiteIndex(0);
  }
  const Report report = JoinFindings(job);
  ASSERT_EQ(report.ranking.size(), 1u);
  EXPECT_EQ(report.sites[0].across->leak, 3u);
}

TEST(JobFindings, WarningsThatDifferInFiguresAreCounted) {
  std::vector<ProcessFindings> job;
  for (int rank = 0; rank < 1000; ++rank) {
    job.push_back(SampleRank(rank));
    job.back().warnings = {"libthis.so is not there",
                           absl::StrCat("node", rank / 8, ".", rank, ".vtrace: 17 events are missing")};
  }
  const Report report = JoinFindings(job);
  const std::vector<std::string> expected = {"libthis.so is not there",
                                             "node0.0.vtrace: 17 events are missing",
                                             "node0.1.vtrace: 17 events are missing",
                                             "node0.2.vtrace: 17 events are missing",
                                             "node0.3.vtrace: 17 events are missing",
                                             "and 996 more like the last one, of other processes",
                                             "8 numbers of devices were used by 125 processes each: the figures of a "
                                             "device are those of the process which held the most of it"};
  EXPECT_EQ(report.warnings, expected);
}

TEST(JobFindings, OfVeryManyFailuresTheFirstAreTold) {
  std::vector<ProcessFindings> job;
  for (int rank = 0; rank < 5000; ++rank) {
    job.push_back(SampleRank(rank));
    job.back().oom.resize(2);
  }
  std::shuffle(job.begin(), job.end(), std::mt19937_64(4));
  const Report report = JoinFindings(job);
  ASSERT_EQ(report.oom.size(), 1000u);
  EXPECT_EQ(report.oom.front().rank, 0);
  EXPECT_EQ(report.oom.back().rank, 499);
  EXPECT_TRUE(absl::StartsWith(report.warnings[0], "10000 allocations failed")) << report.warnings[0];
}

TEST(JobFindings, WhatRanksGaveBackFromOnePlaceIsPutTogether) {
  std::vector<ProcessFindings> job = {SampleRank(0), SampleRank(1)};
  for (size_t i = 0; i < 2; ++i) {
    ReportRelease release{1, 2, (3 + i) * kMiB, kMiB, 2 * kMiB, {{5, 0.5, (3 + i) * kMiB}}, {}};
    release.stack = SampleSite("trim", 0, Verdict::kSteady, 0).frames;
    job[i].releases = {release};
  }
  const Report report = JoinFindings(job);
  ASSERT_EQ(report.releases.size(), 1u);
  EXPECT_EQ(report.releases[0].bytes, 7 * kMiB);
  EXPECT_EQ(report.releases[0].processes, 2u);
  EXPECT_EQ(report.releases[0].times[0].bytes, 4 * kMiB);
}

// Of `ranks` all but three leak, and rank 1 holds more than the others. All fail in the end.
Report JobOf(int ranks) {
  FindingsJoin join;
  for (int rank = 0; rank < ranks; ++rank) {
    ProcessFindings process = SampleRank(rank);
    const uint32_t device = process.devices[0].index;
    const bool leaks = ranks < 8 || rank % (ranks / 3) != 1;
    const double rate = (4 + 0.001 * (rank % 100)) * kMiB;
    process.sites = {SampleSite("train", device, leaks ? Verdict::kLeak : Verdict::kSteady, leaks ? rate : 0)};
    if (rank == 1) process.devices[0].peak.live += 500 * kMiB;
    if (rank % 3 == 0) process.process.complete = false, process.process.incomplete_why = "it was killed";
    process.warnings = {absl::StrCat(rank, ".vtrace: 3 events are missing")};
    join.Add(std::move(process));
  }
  return join.Finish();
}

TEST(JobFindings, TheTextOfALargeJobIsNoLongerThanThatOfASmallOne) {
  for (const int ranks : {2, 8, 64, 1000, 10000}) {
    const Report report = JobOf(ranks);
    const std::string text = RenderText(report, TextStyle(), {10, /*verbose=*/true, {}, false});
    if (getenv("SHOW") != nullptr) std::printf("%s\n%s\n", text.c_str(), RenderText(report, TextStyle()).c_str());
    const std::vector<std::string> lines = absl::StrSplit(text, '\n');
    EXPECT_LT(lines.size(), 180u) << text;
    EXPECT_TRUE(absl::StartsWith(text, "LEAK  ")) << text;
    if (ranks < 8) continue;
    EXPECT_TRUE(absl::StrContains(text, " per step and rank")) << text;
    EXPECT_TRUE(absl::StrContains(text, " ranks, from 4.00 MiB to ")) << text;
    EXPECT_TRUE(absl::StrContains(text, "rank 1 differs: it peaks at 1.46 GiB")) << text;
  }
}

}  // namespace
}  // namespace vramtrack
