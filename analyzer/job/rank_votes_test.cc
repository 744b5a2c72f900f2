// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/rank_votes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/job/testing/sample_job.h"

namespace vramtrack {
namespace {

// Ranks with these verdicts of one site, each on its own device; none does not list it.
std::vector<ProcessFindings> Job(const std::vector<std::optional<Verdict>>& verdicts) {
  std::vector<ProcessFindings> job;
  for (size_t i = 0; i < verdicts.size(); ++i) {
    ProcessFindings process = SampleRank(static_cast<int>(i));
    const uint32_t device = process.devices[0].index;
    process.sites = {SampleSite("steady", device, Verdict::kSteady, 0)};
    const double rate = verdicts[i] == Verdict::kLeak ? 1000 + 10 * static_cast<double>(i) : 0;
    if (verdicts[i]) process.sites.push_back(SampleSite("votes", device, *verdicts[i], rate));
    job.push_back(process);
  }
  return job;
}

const ReportSite& Find(const Report& report, const std::string& function) {
  for (const ReportSite& site : report.sites) {
    if (site.frames[0].function == function) return site;
  }
  ADD_FAILURE() << "no " << function;
  return report.sites.at(0);
}

TEST(RankVotes, AreCountedOverAllDevices) {
  const Report report =
      JoinFindings(Job({Verdict::kLeak, Verdict::kLeak, Verdict::kSteady, Verdict::kInsufficientEvidence,
                        Verdict::kLeak, std::nullopt, Verdict::kOneTime}));
  for (const ReportSite& site : report.sites) {
    if (site.frames[0].function != "votes") continue;
    ASSERT_TRUE(site.across);
    EXPECT_EQ(site.across->ranks, 7u);
    EXPECT_EQ(site.across->leak, 3u);
    EXPECT_EQ(site.across->not_enough, 1u);
    EXPECT_EQ(site.across->no_leak, 2u);
    ASSERT_TRUE(site.across->rate);
    EXPECT_DOUBLE_EQ(site.across->rate->mean, (1000 + 1010 + 1040) / 3.);
    EXPECT_EQ(site.across->rate->least, 1000);
    EXPECT_EQ(site.across->rate->most, 1040);
    EXPECT_EQ(site.across->rate->most_rank, 4);
    EXPECT_EQ(site.across->rate->most_pid, 1004u);
  }
  EXPECT_EQ(Find(report, "steady").across->no_leak, 7u);
  EXPECT_FALSE(Find(report, "steady").across->rate);
}

TEST(RankVotes, ALeakOfOneRankStaysAndSaysSo) {
  std::vector<std::optional<Verdict>> verdicts(64, Verdict::kSteady);
  verdicts[17] = Verdict::kLeak;
  const Report report = JoinFindings(Job(verdicts));
  ASSERT_EQ(report.ranking.size(), 1u);
  EXPECT_EQ(report.sites[0].verdict, Verdict::kLeak);
  EXPECT_EQ(report.sites[0].across->leak, 1u);
  EXPECT_EQ(report.sites[0].across->no_leak, 63u);
  EXPECT_EQ(report.sites[0].across->rate->most_rank, 17);
}

TEST(RankVotes, OneProcessHasNone) {
  const Report report = JoinFindings(Job({Verdict::kLeak}));
  EXPECT_FALSE(report.sites[0].across);
}

TEST(RankVotes, WithoutRanksProcessesVote) {
  std::vector<ProcessFindings> job = Job({Verdict::kLeak, Verdict::kLeak, Verdict::kSteady});
  for (ProcessFindings& process : job) process.process.rank.reset();
  const Report report = JoinFindings(job);
  const ReportAcross& across = *Find(report, "votes").across;
  EXPECT_EQ(across.leak, 2u);
  EXPECT_FALSE(across.rate->most_rank);
  EXPECT_EQ(across.rate->most_pid, 1001u);
}

TEST(RankVotes, ARankVotesOnce) {
  std::vector<ProcessFindings> job = Job({Verdict::kLeak, Verdict::kSteady});
  ProcessFindings again = job[0];  // a helper with the rank of its parent
  again.process.pid = 1;
  again.devices[0].peak.live = 1;
  job.push_back(again);
  // Two devices of one rank are one place.
  job[0].sites.push_back(SampleSite("votes", 5, Verdict::kLeak, 500));
  const Report report = JoinFindings(job);
  const ReportAcross& across = *Find(report, "votes").across;
  EXPECT_EQ(across.ranks, 2u);
  EXPECT_EQ(across.leak, 1u);
  EXPECT_EQ(across.no_leak, 1u);
  EXPECT_EQ(across.rate->mean, 1500);
}

TEST(RankVotes, ALeakIsPooledWithItsParts) {
  std::vector<ProcessFindings> job = Job({Verdict::kLeak, Verdict::kLeak});
  for (ProcessFindings& process : job) {
    ReportSite part = SampleSite("part", process.devices[0].index, Verdict::kLeak, 1);
    part.part_of = ReportSiteIndex(1);
    part.group.reset();
    process.sites.push_back(part);
    // The interval of the whole is not the sum of those of the parts.
    const double rate = process.sites[1].rate_bytes_per_step + 1;
    process.sites[1].group = ReportLeak{rate, rate - 3, rate + 3, 2, 0, 0, 0};
  }
  const Report report = JoinFindings(job);
  EXPECT_EQ(Find(report, "votes").across->rate->least, 1001);
  EXPECT_EQ(Find(report, "votes").across->rate->most, 1011);
  EXPECT_EQ(Find(report, "part").across->rate->mean, 1);
  EXPECT_EQ(Find(report, "part").across->leak, 2u);
  // Where a part leaks alone the leak is there, too.
  job[1].sites[1] = SampleSite("votes", 1, Verdict::kSteady, 0);
  job[1].sites[2].part_of = {};
  const Report other = JoinFindings(job);
  EXPECT_EQ(Find(other, "part").across->leak, 2u);
}

TEST(RankVotes, RatesPerDifferentThingsAreNotPooled) {
  std::vector<ProcessFindings> job = Job({Verdict::kLeak, Verdict::kLeak});
  job[1].sites[1].rate_unit = RateUnit::kGiB;
  const Report report = JoinFindings(job);
  EXPECT_EQ(Find(report, "votes").across->leak, 2u);
  EXPECT_FALSE(Find(report, "votes").across->rate);
}

TEST(RankVotes, HandlesAreCounted) {
  std::vector<ProcessFindings> job = Job({Verdict::kLeak, Verdict::kLeak});
  for (ProcessFindings& process : job) process.sites[1].level = Level::kHandle;
  job[1].sites[1].rate_objects_per_step = 3;
  const ReportAcross::Rate rate = *Find(JoinFindings(job), "votes").across->rate;
  EXPECT_EQ(rate.of, RateOf::kObjects);
  EXPECT_EQ(rate.mean, 2);
  EXPECT_EQ(rate.most_rank, 1);
}

// Against a plain count over what was put in.
TEST(RankVotes, RandomJobsAreCountedRight) {
  std::mt19937_64 random(3);
  const std::vector<Verdict> verdicts = {
      Verdict::kLeak,   Verdict::kLeak, Verdict::kMinorLeak, Verdict::kSteady, Verdict::kInsufficientEvidence,
      Verdict::kOneTime};
  for (int round = 0; round < 50; ++round) {
    struct Expected {
      uint64_t leak = 0, not_enough = 0, no_leak = 0;
      std::vector<double> rates;
    };
    std::map<std::string, Expected> expected;
    std::vector<ProcessFindings> job;
    const int ranks = 2 + static_cast<int>(random() % 30);
    for (int rank = 0; rank < ranks; ++rank) {
      ProcessFindings process = SampleRank(rank);
      for (int s = 0; s < 6; ++s) {
        if (random() % 4 == 0) continue;
        const std::string function = absl::StrCat("site_", s);
        const Verdict verdict = verdicts[random() % verdicts.size()];
        const bool leaks = verdict == Verdict::kLeak || verdict == Verdict::kMinorLeak;
        const double rate = leaks ? 1 + static_cast<double>(random() % 1000) : 0;
        process.sites.push_back(SampleSite(function, process.devices[0].index, verdict, rate));
        Expected& of = expected[function];
        ++(leaks ? of.leak : verdict == Verdict::kInsufficientEvidence ? of.not_enough : of.no_leak);
        if (leaks) of.rates.push_back(rate);
      }
      job.push_back(std::move(process));
    }
    std::shuffle(job.begin(), job.end(), random);
    for (const ReportSite& site : JoinFindings(job).sites) {
      const Expected& of = expected[site.frames[0].function];
      ASSERT_TRUE(site.across);
      EXPECT_EQ(site.across->ranks, static_cast<uint64_t>(ranks));
      EXPECT_EQ(site.across->leak, of.leak);
      EXPECT_EQ(site.across->not_enough, of.not_enough);
      EXPECT_EQ(site.across->no_leak, of.no_leak);
      ASSERT_EQ(site.across->rate.has_value(), of.leak > 0);
      if (of.leak == 0) continue;
      const double mean = std::accumulate(of.rates.begin(), of.rates.end(), 0.0) / static_cast<double>(of.leak);
      EXPECT_NEAR(site.across->rate->mean, mean, 1e-9);
      EXPECT_EQ(site.across->rate->most, *std::max_element(of.rates.begin(), of.rates.end()));
      EXPECT_EQ(site.across->rate->least, *std::min_element(of.rates.begin(), of.rates.end()));
    }
  }
}

}  // namespace
}  // namespace vramtrack
