// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/rank_findings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/job/testing/sample_job.h"
#include "analyzer/render/json/json.h"

namespace vramtrack {
namespace {

// A timeline of any height.
ReportTimeline RandomTimeline(uint32_t device, size_t bins, std::mt19937_64& random) {
  ReportTimeline timeline;
  timeline.device = device;
  for (size_t bin = 0; bin < bins; ++bin) {
    timeline.position.push_back(static_cast<double>(100 + 3 * bin));
    for (ReportTimeline::Series* series : {&timeline.device_used, &timeline.reserved, &timeline.live}) {
      series->low.push_back(random() % 1000);
      series->high.push_back(series->low.back() + random() % 1000);
    }
  }
  return timeline;
}

void ExpectCovers(const ReportTimeline::Series& curve, const ReportTimeline::Series& all, size_t bin, size_t begin,
                  size_t end) {
  const auto at = [](size_t i) { return static_cast<std::ptrdiff_t>(i); };
  EXPECT_EQ(curve.low[bin], *std::min_element(all.low.begin() + at(begin), all.low.begin() + at(end)));
  EXPECT_EQ(curve.high[bin], *std::max_element(all.high.begin() + at(begin), all.high.begin() + at(end)));
}

TEST(RankCurves, HaveTheLowestAndTheHighestOfWhatEachBinStandsFor) {
  std::mt19937_64 random(1);
  for (const size_t bins : {1, 2, 63, 64, 65, 127, 128, 129, 1000, 3999, 4000}) {
    ProcessFindings findings = SampleRank(0);
    findings.timeline = {RandomTimeline(0, bins, random)};
    const std::optional<ReportRankCurve> curve = DescribeCurve(findings);
    ASSERT_TRUE(curve.has_value());
    EXPECT_LE(curve->position.size(), kMostCurveBins);
    EXPECT_GT(curve->position.size() * 2, std::min(bins, kMostCurveBins));
    size_t width = 1;
    while ((bins + width - 1) / width > kMostCurveBins) width *= 2;
    ASSERT_EQ(curve->position.size(), (bins + width - 1) / width);
    const ReportTimeline& all = findings.timeline[0];
    for (size_t bin = 0; bin < curve->position.size(); ++bin) {
      const size_t begin = bin * width, end = std::min(begin + width, bins);
      EXPECT_EQ(curve->position[bin], all.position[begin]);
      ExpectCovers(curve->live, all.live, bin, begin, end);
      ExpectCovers(curve->reserved, all.reserved, bin, begin, end);
    }
  }
}

TEST(RankCurves, AreOfTheDeviceThatHoldsMost) {
  std::mt19937_64 random(2);
  ProcessFindings findings = SampleRank(0);
  findings.devices.push_back(findings.devices[0]);
  findings.devices[1].index = 5;
  findings.timeline = {RandomTimeline(0, 10, random), RandomTimeline(5, 10, random)};
  findings.timeline[1].unit = PositionUnit::kSeconds;
  EXPECT_EQ(DescribeCurve(findings)->device, 0u);  // the first of two that hold as much
  EXPECT_EQ(DescribeCurve(findings)->unit, PositionUnit::kSteps);
  findings.devices[1].peak.live += 1;
  EXPECT_EQ(DescribeCurve(findings)->device, 5u);
  EXPECT_EQ(DescribeCurve(findings)->unit, PositionUnit::kSeconds);
  EXPECT_EQ(DescribeCurve(findings)->live.high, findings.timeline[1].live.high);
  findings.devices.clear();
  EXPECT_FALSE(DescribeCurve(findings).has_value());  // none but the host's
}

// Of these ranks those in `heavy` peak at as many MiB more; the others at 1000 MiB and a little.
std::vector<ProcessFindings> Job(int ranks, const std::map<int, uint64_t>& heavy) {
  std::vector<ProcessFindings> job;
  for (int rank = 0; rank < ranks; ++rank) {
    ProcessFindings process = SampleRank(rank);
    uint64_t& live = process.devices[0].peak.live;
    live += static_cast<uint64_t>(rank * 7919 % ranks) * 1024;  // no two the same
    if (heavy.count(rank) != 0) live += heavy.at(rank) * kMiB;
    job.push_back(std::move(process));
  }
  return job;
}

// "3 differs, 0 alike, ...", in the order in which they are shown.
std::string Shown(const Report& report) {
  std::map<uint64_t, std::string> in_order;
  for (const ReportRank& rank : report.ranks) {
    if (!rank.curve) continue;
    EXPECT_EQ(rank.curve->as == CurveReason::kDiffers, !rank.differs.empty());
    EXPECT_TRUE(in_order.emplace(rank.curve->order, absl::StrCat(*rank.rank, " ", NameOf(rank.curve->as))).second);
  }
  std::string text;
  uint64_t next = 0;
  for (const auto& [order, shown] : in_order) {
    EXPECT_EQ(order, next++);
    absl::StrAppend(&text, text.empty() ? "" : ", ", shown);
  }
  return text;
}

TEST(RankCurves, OfFewRanksAllAreShownThoseThatDifferFirst) {
  EXPECT_EQ(Shown(JoinFindings(Job(6, {{2, 300}, {4, 500}}))),
            "4 differs, 2 differs, 0 alike, 1 alike, 3 alike, 5 median");
  EXPECT_EQ(Shown(JoinFindings(Job(1, {}))), "");
  std::vector<ProcessFindings> job = Job(4, {});
  job[1].devices.clear();
  EXPECT_EQ(Shown(JoinFindings(job)), "0 alike, 2 alike, 3 median");
}

TEST(RankCurves, OfVeryManyRanksThoseThatDifferAndTheWorstAndTheUsual) {
  constexpr int kRanks = 1000;
  const Report report = JoinFindings(Job(kRanks, {{700, 300}, {20, 300}, {30, 900}}));
  std::vector<const ReportRank*> alike;
  for (const ReportRank& rank : report.ranks) {
    if (rank.differs.empty()) alike.push_back(&rank);
  }
  std::sort(alike.begin(), alike.end(),
            [](const ReportRank* a, const ReportRank* b) { return a->peak_live > b->peak_live; });
  std::string expected = "30 differs, 700 differs, 20 differs";
  if (report.ranks[20].peak_live > report.ranks[700].peak_live) expected = "30 differs, 20 differs, 700 differs";
  for (size_t i = 0; i < kMostCurves - 5; ++i) absl::StrAppend(&expected, ", ", *alike[i]->rank, " highest");
  absl::StrAppend(&expected, ", ", *alike[alike.size() / 2]->rank, " median, ", *alike.back()->rank, " least");
  EXPECT_EQ(Shown(report), expected);
}

TEST(RankCurves, OfVeryManyThatDifferTheWorst) {
  // Ten hold more than most, sixty hold less, and nobody is shown twice.
  std::map<int, uint64_t> heavy;
  for (int rank = 0; rank < 300; ++rank) {
    if (rank % 5 != 0) heavy[rank] = rank % 30 == 1 ? 1000 + static_cast<uint64_t>(rank) : 500;
  }
  const Report report = JoinFindings(Job(300, heavy));
  const std::string shown = Shown(report);
  EXPECT_EQ(std::count(shown.begin(), shown.end(), ','), static_cast<std::ptrdiff_t>(kMostCurves - 1)) << shown;
  EXPECT_EQ(shown.find("271 differs, 241 differs, 211 differs"), 0u) << shown;
  EXPECT_NE(shown.find(" median"), std::string::npos) << shown;
  EXPECT_NE(shown.find(" least"), std::string::npos) << shown;
}

TEST(RankCurves, AreTheSameInWhateverOrderProcessesCome) {
  std::mt19937_64 random(3);
  for (const int ranks : {2, 5, 64, 65, 66, 200}) {
    std::map<int, uint64_t> heavy;
    for (uint64_t i = random() % 80; i > 0; --i) {
      heavy[static_cast<int>(random() % static_cast<uint64_t>(ranks))] = 100 * (random() % 5);
    }
    std::vector<ProcessFindings> job = Job(ranks, heavy);
    const Report first = JoinFindings(job);
    const std::string shown = Shown(first);
    EXPECT_EQ(std::count(shown.begin(), shown.end(), ',') + 1, std::min<std::ptrdiff_t>(ranks, kMostCurves)) << shown;
    for (int round = 0; round < 5; ++round) {
      std::shuffle(job.begin(), job.end(), random);
      EXPECT_EQ(RenderJson(JoinFindings(job)), RenderJson(first)) << ranks;
    }
  }
}

}  // namespace
}  // namespace vramtrack
