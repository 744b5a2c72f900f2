// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/top_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analyzer/render/words/finding_words.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

ReportSite SiteAt(const std::string& id, int line, Verdict verdict, uint64_t live, double rate = 0) {
  ReportSite site;
  site.id = id;
  site.verdict = verdict;
  site.device = 0;
  site.live_bytes = site.bytes_at_peak = live;
  site.rate_bytes_per_step = site.rate_ci_low = site.rate_ci_high = rate;
  ReportFrame frame;
  frame.function = "work";
  frame.file = "train.py";
  frame.line = static_cast<uint32_t>(line);
  frame.language = Language::kPython;
  site.frames = {frame};
  return site;
}

Report Sample() {
  Report report;
  report.steps.source = StepSource::kMarks;
  report.steps.count = 100;
  report.devices.resize(1);
  report.devices[0].total_bytes = 1000 * kMiB;
  report.devices[0].peak.live = 400 * kMiB;
  report.devices[0].end.live = report.devices[0].end.reserved = 300 * kMiB;
  report.sites = {
      SiteAt("steady", 10, Verdict::kSteady, 200 * kMiB), SiteAt("slow", 11, Verdict::kLeak, 10 * kMiB, kMiB / 2.0),
      SiteAt("young", 12, Verdict::kInsufficientEvidence, 5 * kMiB),
      SiteAt("fast", 13, Verdict::kLeak, 20 * kMiB, kMiB), SiteAt("also_steady", 10, Verdict::kSteady, 60 * kMiB)};
  report.sites.push_back(SiteAt("part", 14, Verdict::kLeak, kMiB, kMiB));
  report.sites.back().part_of = ReportSiteIndex(3);
  return report;
}

std::vector<std::string> Ids(const std::vector<TopRow>& rows) {
  std::vector<std::string> ids;
  for (const TopRow& row : rows) ids.push_back(row.site->id);
  return ids;
}

TEST(TopRows, LeaksComeFirstByRateAndSitesOfOneLineAreOneRow) {
  const Report report = Sample();
  const std::vector<TopRow> rows = TopRows(report, {});
  EXPECT_EQ(Ids(rows), (std::vector<std::string>{"fast", "slow", "young", "steady"}));
  EXPECT_EQ(rows[3].sites, 2u);
  EXPECT_EQ(rows[3].live_bytes, 260 * kMiB);
  TopView view;
  view.order = TopOrder::kLive;
  EXPECT_EQ(Ids(TopRows(report, view)), (std::vector<std::string>{"steady", "fast", "slow", "young"}));
}

TEST(TopRows, ALeakHoldsWhatItsPartsHold) {
  const Report report = Sample();
  TopView view;
  view.baseline = BaselineOf(report);
  const std::vector<TopRow> rows = TopRows(report, view);
  EXPECT_EQ(rows[0].live_bytes, 21 * kMiB);
  EXPECT_EQ(rows[0].bytes_at_peak, 21 * kMiB);
  EXPECT_EQ(rows[0].bytes_at_mark, 21 * kMiB);
  EXPECT_EQ(rows[0].sites, 2u);
}

TEST(TopRows, SitesOfOneLineThatGrowAddUp) {
  Report report = Sample();
  report.sites.push_back(SiteAt("also_young", 12, Verdict::kInsufficientEvidence, 3 * kMiB, 2.0 * kMiB));
  report.sites.back().kept.emplace().survivor_objects = 7;
  report.sites[2].rate_bytes_per_step = kMiB;
  report.sites[2].kept.emplace().survivor_objects = 5;
  const std::vector<TopRow> rows = TopRows(report, {});
  ASSERT_EQ(rows[2].sites, 2u);
  EXPECT_EQ(rows[2].live_bytes, 8 * kMiB);
  EXPECT_EQ(rows[2].rate_bytes, 3.0 * kMiB);
  EXPECT_EQ(rows[2].kept_objects, 12u);
}

TEST(TopRows, OnlyWhatIsSearchedAndOfTheDevice) {
  const Report report = Sample();
  TopView view;
  view.search = "TRAIN.PY:11";
  EXPECT_EQ(Ids(TopRows(report, view)), (std::vector<std::string>{"slow"}));
  view.search.clear();
  view.device = 1;
  EXPECT_TRUE(TopRows(report, view).empty());
}

TEST(TopRows, KnowWhatWasLiveAtTheMark) {
  const Report before = Sample();
  Report report = Sample();
  report.sites[0].live_bytes += 3 * kMiB;
  TopView view;
  view.baseline = BaselineOf(before);
  const std::vector<TopRow> rows = TopRows(report, view);
  EXPECT_EQ(rows[3].live_bytes - rows[3].bytes_at_mark, 3 * kMiB);
  EXPECT_EQ(rows[0].live_bytes, rows[0].bytes_at_mark);
}

TEST(StateText, SaysHowManyStepsAreMissing) {
  const Report report = Sample();
  EXPECT_EQ(StateText(report, report.sites[2]), "may leak");
}

TEST(TopScreen, FitsAndKeepsTheSelectedRowInSight) {
  Report report = Sample();
  for (int i = 0; i < 100; ++i) {
    report.sites.push_back(SiteAt("more" + std::to_string(i), 100 + i, Verdict::kSteady, kMiB));
  }
  TopView view;
  view.selected = TopRows(report, view).back().place;
  for (const bool stack : {false, true}) {
    view.shows_stack = stack;
    for (int columns = 20; columns < 200; columns += 7) {
      for (size_t rows = 8; rows < 40; rows += 5) {
        const std::vector<std::string> lines = TopScreen(report, view, "title", "keys", {columns, true, false}, rows);
        ASSERT_LE(lines.size(), rows);
        for (const std::string& line : lines) ASSERT_LE(DisplayWidth(line), columns) << line;
        EXPECT_EQ(lines.back(), "keys");
        if (!stack && rows >= 13) {
          EXPECT_EQ(lines[lines.size() - 2].substr(0, 1), ">");
        }
      }
    }
  }
}

TEST(TopScreen, NamesTheRankThatIsUnlikeTheOthers) {
  Report report = Sample();
  report.ranks.resize(4);
  for (int i = 0; i < 4; ++i) report.ranks[static_cast<size_t>(i)].rank = i;
  report.ranks[2].differs.push_back({RankFigure::kLeak, 2.0 * kMiB, 0, ReportSiteIndex(3), ""});
  const std::vector<std::string> lines = TopScreen(report, {}, "", "", {120, false, false}, 20);
  const auto found = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return line.find("ranks ..!.") == 0 && line.find("rank 2: leak 2.00 MiB") != std::string::npos;
  });
  EXPECT_NE(found, lines.end());
}

// A site is the sum of several processes, the peak that of one of them.
TEST(TopScreen, SeveralProcessesHaveNoShareOfOnePeak) {
  Report report = Sample();
  const auto text = [&report] {
    std::string all;
    for (const std::string& line : TopScreen(report, {}, "", "", {120, false, false}, 20)) all += line + "\n";
    return all;
  };
  EXPECT_NE(text().find("2.5 %"), std::string::npos);
  report.devices[0].processes = 2;
  report.devices[0].pid = 4711;
  EXPECT_EQ(text().find("2.5 %"), std::string::npos);
  EXPECT_NE(text().find("GPU 0 process 4711"), std::string::npos);
}

// cuBLAS's workspaces are beside PyTorch's blocks, and may be more than these.
TEST(TopRows, MemoryOfTheDriverIsNoShareOfAFrameworksBlocks) {
  Report report = Sample();
  report.devices[0].peak.framework.emplace();
  for (ReportSite& site : report.sites) site.level = Level::kFramework;
  report.sites.push_back(SiteAt("workspace", 10, Verdict::kSteady, 800 * kMiB));
  report.sites.back().level = Level::kDriver;
  const TopRow row = TopRows(report, {}).back();
  EXPECT_EQ(row.live_bytes, 1060 * kMiB);
  EXPECT_EQ(row.bytes_at_peak, 260 * kMiB);
}

// The parts of the bar add up to the device: 300 of 1000 MiB are live.
TEST(TopScreen, TheBarHasTheDevicesParts) {
  const std::vector<std::string> lines = TopScreen(Sample(), {}, "", "", {120, false, false}, 20);
  const std::string& line = lines[1];
  const size_t begin = line.find('['), end = line.find(']');
  ASSERT_NE(begin, std::string::npos);
  const std::string bar = line.substr(begin + 1, end - begin - 1);
  const auto live = static_cast<double>(std::count(bar.begin(), bar.end(), '#'));
  EXPECT_NEAR(live / static_cast<double>(bar.size()), 0.3, 0.03);
}

}  // namespace
}  // namespace vramtrack
