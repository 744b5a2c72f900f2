// SPDX-License-Identifier: Apache-2.0
#include "analyzer/render/text/text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/base/display_text.h"
#include "analyzer/model/oom_lines.h"
#include "analyzer/render/testing/sample_reports.h"

namespace vramtrack {
namespace {

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// All sections, whole.
std::string Render(const Report& report, int columns = 100, size_t top = 10) {
  TextStyle style;
  style.columns = columns;
  return RenderText(report, style, {top, /*verbose=*/true, {}, false});
}

// What is shown unless more is asked for.
std::string Short(const Report& report, int columns = 100) {
  TextStyle style;
  style.columns = columns;
  return RenderText(report, style);
}

std::string Showing(const Report& report, const std::string& section) {
  return RenderText(report, TextStyle(), {10, false, {section}, false});
}

bool Contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::vector<Report> AllSamples() {
  return {LeakSample(),      NoLeakSample(),      TooShortSample(), OutOfMemorySample(),
          ManySitesSample(), HostileTextSample(), PyTorchSample(),  RanksSample(),
          EmptySample(),     CuptiSample(),       HolderSample(),   SharedCardSample()};
}

TEST(TextReport, FirstLineNamesTheLeaksFileLineFunctionAndRate) {
  EXPECT_EQ(Lines(Render(LeakSample()))[0],
            "LEAK  testdata/transformer/attention.cu:87  Attention::Forward  leaks 4.00 MiB per step");
  EXPECT_EQ(Lines(Render(LeakSample(), 80))[0], "LEAK  testdata/transformer/attention.cu:87  leaks 4.00 MiB per step");
}

TEST(TextReport, APythonLeakIsNamedAsTracebacksName) {
  const std::string text = Render(PyTorchSample());
  EXPECT_EQ(Lines(text)[0].substr(0, 45), "LEAK  train.py:42 in step, allocated at model");
  EXPECT_TRUE(Contains(text, "  → step                train.py:42\n") ||
              Contains(text, "> step                train.py:42\n"))
      << text;
  EXPECT_TRUE(Contains(text, "AddmmBackward0      (backward) of the call below\n")) << text;
  EXPECT_TRUE(Contains(text, "Linear.forward      torch/nn/modules/linear.py:134\n")) << text;
}

TEST(TextReport, RanksStandSideBySideAndTheOneThatDiffersIsNamed) {
  const std::string text = Render(RanksSample(), 120), narrow = Render(RanksSample(), 80);
  EXPECT_TRUE(Contains(narrow, "\n     0     4700       0    500 MiB     400 MiB              0 B  no leak\n"))
      << narrow;
  EXPECT_TRUE(Contains(narrow, "\n     2     4702       2    700 MiB     400 MiB              0 B  1 leak\n"));
  EXPECT_TRUE(
      Contains(text,
               "\n  rank 2 differs: it leaks 4.00 MiB per step at train.py:42 in step, where most others do not;"
               " it peaks at 700 MiB (the\n  others have 500 MiB)\n"))
      << text;
  EXPECT_TRUE(Contains(Short(RanksSample()), "\n  rank 2 differs: it leaks 4.00 MiB per step"));
  EXPECT_FALSE(Contains(Render(PyTorchSample()), "Ranks"));
}

TEST(TextReport, WhereRanksDifferHowTheirMemoryGoesIsDrawnIfThereIsRoom) {
  TextStyle style;
  style.unicode = true;
  const std::string text = RenderText(RanksSample(), style, {10, /*verbose=*/true, {}, false});
  // On one scale, and of rank 3 as far as it came.
  EXPECT_TRUE(Contains(text, "  growth per step           live\n")) << text;
  EXPECT_TRUE(Contains(text, "    0 B  no leak  ▂▂▂▃▃▃▃▃▃▃▄▄▄▄▄▄▅▅▅▅▅▅▆▆\n")) << text;
  EXPECT_TRUE(Contains(text, "    0 B  1 leak   ▃▃▃▄▄▄▄▄▅▅▅▅▆▆▆▆▆▇▇▇▇███\n")) << text;
  EXPECT_TRUE(Contains(text, "unknown  no leak  ▂▂▂▃▃▃▃▃▃▃▄▄\n")) << text;
  EXPECT_TRUE(Contains(Render(RanksSample(), 100), "    0 B  1 leak   _.........:::::::::#####\n"));
  Report report = RanksSample();
  report.ranks[2].differs.clear();
  EXPECT_TRUE(Contains(RenderText(report, style, {10, /*verbose=*/true, {}, false}), "    0 B  1 leak\n"));
}

TEST(TextReport, OfALargeJobItSaysInHowManyRanksALeakIs) {
  Report report = LargeJobSample();
  const std::string text = Render(report, 120);
  EXPECT_TRUE(Contains(
      text, "train.py:42 in step, allocated at model.py:12  leaks 4.00 MiB per step and rank\n      (95 % CI 3.98 to "))
      << text;
  EXPECT_TRUE(Contains(text, "\n      on 61 of 64 ranks (2 with too few steps), from 3.90 MiB to 4.10 MiB (rank 17)\n"))
      << text;
  EXPECT_TRUE(Contains(text,
                       "\n    and 61 that do not differ: they peak at 500 MiB, end with 400 MiB,"
                       " grow by 0 B per step; 0 to 1 leaks each\n"))
      << text;
  EXPECT_TRUE(Contains(text, "Device 0: Simulated GPU")) << text;
  EXPECT_TRUE(Contains(text, ", of rank 17\n")) << text;
  report.sites[0].across = ReportAcross{64, 1, 0, 60, report.sites[0].across->rate};
  EXPECT_TRUE(Contains(Render(report, 120), "\n      on only 1 of 64 ranks (3 without data on it): rank 17\n"));
  report.sites[0].across = ReportAcross{64, 64, 0, 0, report.sites[0].across->rate};
  report.sites[0].across->rate->least = report.sites[0].across->rate->most;
  EXPECT_TRUE(Contains(Render(report, 120), "\n      on all 64 ranks, the same in each\n"));
}

TEST(TextReport, RanksThatDifferInTheSameThingShareASentence) {
  Report report = LargeJobSample();
  for (int i = 10; i < 30; ++i) {
    const double peak = static_cast<double>(600 + i) * (1 << 20);
    report.ranks[static_cast<size_t>(i)].differs = {{RankFigure::kPeak, peak, 500 << 20, {}, ""}};
  }
  const std::string text = Render(report, 140);
  EXPECT_TRUE(Contains(text,
                       "\n  ranks 10, 11, 12, 13, 14, 15 and 14 more differ: they peak at 610 MiB to 629 MiB (the"
                       " others have 500 MiB)\n"))
      << text;
  EXPECT_TRUE(Contains(text, "\n    and 4 more that differ\n")) << text;
}

TEST(TextReport, OneLeakOnSeveralDevicesIsOneFinding) {
  Report report = RanksSample();
  ReportSite other = report.sites[0];
  other.id = "other";
  other.device = 1;
  report.ranking.emplace_back(static_cast<uint32_t>(report.sites.size()));
  report.sites.push_back(other);
  const std::string text = Render(report);
  EXPECT_TRUE(Contains(text, "train.py:42 in step, allocated at model.py:12  leaks 4.00 MiB per step on 2 devices"))
      << text;
  EXPECT_FALSE(Contains(text, "Further findings"));
}

TEST(TextReport, APythonMainIsNoEndOfTheStack) {
  Report report = PyTorchSample();
  report.sites[0].frames[4].function = "main";
  EXPECT_TRUE(Contains(Render(report), "<module>"));
}

TEST(TextReport, ThePeaksTableHasALineForEachLineOfTheJobAndAddsUp) {
  Report report = PyTorchSample();
  const uint64_t mib = 1 << 20;
  ReportPeakLine line;
  line.line = report.sites[0].frames[3];
  line.sites = 3;
  line.bytes = 60 * mib;
  line.peak_without = 40 * mib;
  line.category = "optimizer_state";
  ReportPeakLine leak = line;
  leak.leak = true;
  leak.category = "";
  leak.line = report.sites[0].frames[4];
  report.peak_lines = {{0, 160 * mib, {leak, line, line}, 7, 4 * mib}};
  const std::string text = Render(report, 120, 2);
  EXPECT_TRUE(Contains(text, "\n     60.0 MiB         40.0 MiB  leak  train.py:42 in step  (3 sites)\n")) << text;
  EXPECT_TRUE(Contains(text,
                       "\n     60.0 MiB         40.0 MiB        model.py:12 in Net.forward  "
                       "(3 sites, optimizer state)\n"))
      << text;
  EXPECT_TRUE(Contains(text, "\n     64.0 MiB                         in 10 other sites\n")) << text;
}

TEST(TextReport, MuchThatTheDriverGaveToOthersIsNamedBesideTheBlocks) {
  Report report = PyTorchSample();
  ReportSite site = report.sites[1];
  site.id = "handle";
  site.level = Level::kDriver;
  site.category = "unknown";
  site.owner = "libcublas.so.13";
  site.bytes_at_peak = report.devices[0].peak.device_used / 4;
  report.sites.push_back(site);
  report.devices[0].other_owners = {{"libcublas.so.13", 8 << 20}};
  const std::string text = Render(report, 120);
  EXPECT_TRUE(Contains(text, "in addition, from the driver:\n")) << text;
  EXPECT_TRUE(Contains(text, "(of libcublas.so.13)\n")) << text;
}

TEST(TextReport, NothingIsForetoldOfADeviceThatRanOut) {
  const std::string text = Render(OutOfMemorySample());
  EXPECT_FALSE(Contains(text, "is full in")) << text;
  EXPECT_FALSE(Contains(text, "full already")) << text;
}

TEST(TextReport, SaysWhatThePeakConsistsOfAndWhatNeedNotBeThere) {
  Report report = LeakSample();
  ReportDevice& device = report.devices[0];
  const uint64_t mib = 1 << 20;
  device.peak_set.categories = {{"activations", 300 * mib, .9, {}},
                                {"optimizer_state", 200 * mib, .9, {}},
                                {"input", mib, .9, {}},
                                {"other", 2 * mib, 0, {}}};
  device.late_frees = {{ReportSiteIndex(1), 3, 20 * mib}};
  device.peak_set.without = {{{report.peak_lines[0].lines[0].site}, 90 * mib},
                             {{report.peak_lines[0].lines[0].site, report.peak_lines[0].lines[1].site}, 80 * mib}};
  const std::string text = Render(report, 120);
  EXPECT_TRUE(Contains(text, "\n  at the peak    300 MiB activations, 200 MiB optimizer state, 3.00 MiB other\n"))
      << text;
  EXPECT_TRUE(Contains(text, "\n  the peak would be 80.0 MiB without the two largest\n")) << text;
  EXPECT_TRUE(Contains(text, "\n  - late free, saves 20.0 MiB of the peak: most objects of these sites")) << text;
}

TEST(TextReport, SaysWhatWalksCost) {
  Report report = LeakSample();
  EXPECT_FALSE(Contains(Short(report), "walk"));
  report.walks.resize(2);
  for (ReportWalk& walk : report.walks) walk.duration_s = 0.25;
  EXPECT_TRUE(Contains(Short(report, 200), "; 2 walks, 0.5 s\n")) << Short(report, 200);
}

TEST(TextReport, WhatLeaksIsNotOfUnknownUse) {
  Report report = LeakSample();
  ReportDevice& device = report.devices[0];
  for (ReportSite& site : report.sites) site.category = "activations";
  ReportSite& leak = report.sites[report.ranking[0].value()];
  const uint64_t mib = 1 << 20;
  leak.category = "unknown";
  leak.bytes_at_peak = 60 * mib;
  device.peak_set.categories = {{"activations", 300 * mib, .9, {}}, {"unknown", 70 * mib, 0, {}}};
  const std::string text = Render(report, 120);
  EXPECT_TRUE(Contains(text, "  at the peak    60.0 MiB leaked, 300 MiB activations, 10.0 MiB unknown use\n")) << text;
}

TEST(OomLines, TheAnswerIsALineThatHeldMuch) {
  Report report = OutOfMemorySample();
  ReportOom& oom = report.oom[0];
  ASSERT_TRUE(oom.answer.has_value());
  EXPECT_EQ(oom.answer->site, report.ranking[0]);
  EXPECT_TRUE(oom.answer->leak);
  // The leak held little: the line that held most is the answer.
  oom.holders = {{ReportSiteIndex(0), 100}, {ReportSiteIndex(1), 400}, {ReportSiteIndex(2), 300}};
  AnswerFailures(&report);
  ASSERT_TRUE(oom.answer.has_value());
  EXPECT_EQ(oom.answer->site, ReportSiteIndex(1));
  EXPECT_FALSE(oom.answer->leak);
  EXPECT_EQ(oom.answer->bytes, 400u);
  EXPECT_DOUBLE_EQ(oom.answer->share, 0.5);
  // Most of the memory was at lines that are not named.
  oom.categories = {{"unknown", 4000}};
  AnswerFailures(&report);
  EXPECT_FALSE(oom.answer.has_value());
}

TEST(TextReport, SaysThatAJobWentOnAfterAnAllocationFailed) {
  Report report = OutOfMemorySample();
  report.processes.resize(1);
  EXPECT_FALSE(Contains(Render(report, 120), "went on"));
  report.oom[0].went_on = true;
  EXPECT_TRUE(Contains(Short(report, 120), "The job went on."));
}

TEST(TextReport, AnOutOfMemoryIsComparedWithTheLastGoodStep) {
  Report report = OutOfMemorySample();
  ReportOom& oom = report.oom[0];
  const uint64_t mib = 1 << 20;
  oom.categories = {{"activations", 300 * mib}, {"unknown", 200 * mib}};
  oom.compared_step = 418;
  oom.same_point = true;
  oom.then = 100 * mib;
  oom.now = 148 * mib;
  oom.changes = {{ReportSiteIndex(2), 48 * mib, 96 * mib}, {ReportSiteIndex(1), 10 * mib, 4 * mib}};
  oom.size_ratio = 1.84;
  oom.size_change = SizeChange::kLarger;
  const std::string text = Render(report, 120);
  EXPECT_TRUE(Contains(text, "\n      held at that moment: 300 MiB activations, 200 MiB unknown use\n")) << text;
  EXPECT_TRUE(
      Contains(text, "That is 48.0 MiB more than in step 418, at the same point of it. This step allocates 1.8"))
      << text;
  EXPECT_TRUE(Contains(text, "\n       +48.0 MiB    48.0 MiB to 96.0 MiB        testdata/transformer/mlp.cu:63"))
      << text;
  EXPECT_FALSE(Contains(text, "10.0 MiB to 4.00 MiB")) << "only what grew";
}

TEST(TextReport, CertaintyAndTimeToOutOfMemoryFollowTheLeak) {
  std::vector<std::string> lines = Lines(Render(LeakSample()));
  EXPECT_EQ(lines[1], "      (52 steps, since step 3)");
  EXPECT_EQ(lines[2], "      at this rate device 0 is full in 19,400 steps");
}

TEST(TextReport, ALongPathKeepsItsEndAndTheLineKeepsTheRate) {
  Report report = LeakSample();
  report.sites[0].frames[2].file = "/a/very/long/way/to/" + std::string(200, 'x') + "/attention.cu";
  for (int columns : {80, 100, 120}) {
    std::string first = Lines(Render(report, columns))[0];
    EXPECT_TRUE(Contains(first, "/attention.cu:87")) << first;
    EXPECT_TRUE(Contains(first, "leaks 4.00 MiB per step")) << first;
    EXPECT_LE(DisplayWidth(first), columns);
  }
}

TEST(TextReport, TheBlamedFrameIsMarked) {
  std::string text = Render(LeakSample());
  EXPECT_TRUE(Contains(text, "    > Attention::Forward          testdata/transformer/attention.cu:87\n")) << text;
  Report deep = LeakSample();
  ReportSite& site = deep.sites[0];
  site.frames.insert(site.frames.begin(), 40, site.frames[1]);
  site.blame_frame += 40;
  site.frames.insert(site.frames.end() - 1, 40, site.frames[site.frames.size() - 2]);
  text = Render(deep);
  EXPECT_TRUE(Contains(text, "    > Attention::Forward")) << text;
  EXPECT_TRUE(Contains(text, "(39 inner frames hidden)")) << text;
  EXPECT_TRUE(Contains(text, "(35 more callers)")) << text;
  TextStyle style;
  text = RenderText(deep, style, {10, /*verbose=*/true, {}, /*every_frame=*/true});
  EXPECT_FALSE(Contains(text, "inner frames hidden") || Contains(text, "more callers")) << text;
}

TEST(TextReport, ListsNameTheFrameThatTellsASiteApart) {
  std::string text = Render(NoLeakSample());
  EXPECT_TRUE(Contains(text, "testdata/transformer/model.cu:40  Model::Model")) << text;
  EXPECT_TRUE(Contains(text, "testdata/transformer/mlp.cu:63  Mlp::Forward")) << text;
  EXPECT_FALSE(Contains(text, "cudaMalloc"));
}

TEST(TextReport, WhatCallsMainIsLeftOut) {
  Report report = LeakSample();
  report.sites[0].frames.emplace_back();
  report.sites[0].frames.back().function = "__libc_start_main";
  EXPECT_FALSE(Contains(Render(report), "__libc_start_main"));
}

TEST(TextReport, OutOfMemoryComesBeforeTheLeakThatLedThere) {
  std::vector<std::string> lines = Lines(Render(OutOfMemorySample()));
  EXPECT_EQ(lines[0].find("OUT OF MEMORY  testdata/transformer/attention.cu:87"), 0u) << lines[0];
  std::string text = Render(OutOfMemorySample(), 1000);
  EXPECT_TRUE(Contains(text, "leaked 1.63 of 2.00 GiB by step 419")) << text;
  EXPECT_TRUE(Contains(text, "2.86 GiB requested; device 0 had 800 MiB free, and 12.0 MiB in holes")) << text;
  EXPECT_TRUE(Contains(text, "1.63 GiB  leak  testdata/transformer/attention.cu:87")) << text;
  EXPECT_LT(text.find("OUT OF MEMORY"), text.find("LEAK  "));
  EXPECT_TRUE(Contains(text, "the process was killed"));
  EXPECT_TRUE(Contains(text, "12,345 events"));

  Report pieces = OutOfMemorySample();
  pieces.oom[0].cause = OomCause::kContiguity;
  pieces.oom[0].answer.reset();
  EXPECT_TRUE(Contains(Short(pieces), "in smaller pieces"));
}

TEST(TextReport, NoLeakIsSaidFirstWithItsEvidence) {
  std::vector<std::string> lines = Lines(Render(NoLeakSample()));
  EXPECT_EQ(lines[0], "NO LEAK  none of 2 allocation sites leaks (52 steps)");
  EXPECT_EQ(lines[1], "         memory on device 0 (Simulated GPU, 80.0 GiB) does not grow");
  EXPECT_EQ(Lines(Short(NoLeakSample()))[0], "NO LEAK in 52 steps");
}

TEST(TextReport, WhatGrowsWithoutAVerdictIsNamedWithItsRateAndHolder) {
  Report report = TooShortSample();
  report.reasons = {{"cache", "server.py:10 in forward grows by 3.00 MiB per step"}};
  ReportGrowthLine line;
  line.line = "server.py:10";
  line.function = "forward";
  line.per_step = 3 << 20;
  line.ci_low = 2 << 20;
  line.ci_high = 4 << 20;
  line.verdict = Verdict::kInsufficientEvidence;
  line.why = "some entries are freed";
  line.not_slowing = true;
  ReportSite& site = report.sites[0];
  line.sites = {ReportSiteIndex(0)};
  site.holder.emplace();
  site.holder->explanation = "srv.cache.entries (a dict, 795 entries)";
  report.devices[0].growth.emplace();
  report.devices[0].growth->ledger.emplace();
  report.devices[0].growth->ledger->lines = {line};
  const std::vector<std::string> lines = Lines(Short(report));
  EXPECT_EQ(lines[0], "GROWS  server.py:10 in forward, 3.00 MiB per step (2.00 to 4.00 MiB), not slowing");
  EXPECT_EQ(lines[1], "      kept by  srv.cache.entries (a dict, 795 entries)");
  EXPECT_EQ(lines[2], "      not called a leak: some entries are freed");
  EXPECT_FALSE(Contains(Short(report), "grows by")) << "nothing is said twice";
  report.reasons.push_back({"few_steps", "4 steps are too few"});
  EXPECT_TRUE(Contains(Short(report), "NOT ENOUGH EVIDENCE"));
}

TEST(TextReport, ALargerBatchIsNamedWithItsLine) {
  Report report = NoLeakSample();
  const uint64_t mib = 1 << 20;
  ReportOom oom;
  oom.step = 40;
  oom.compared_step = 39;
  oom.same_point = true;
  oom.requested = 4096 * mib;
  oom.then = 70 * mib;
  oom.now = 2100 * mib;
  oom.changes = {{ReportSiteIndex(0), 64 * mib, 2048 * mib}};
  report.oom = {oom};
  const std::string text = Short(report, 1000);
  EXPECT_TRUE(Contains(text, "OUT OF MEMORY  step 40 allocates 32 times step 39 at ")) << text;
  EXPECT_TRUE(Contains(text, ": a larger batch, not a leak")) << text;
  report.oom[0].size_change = SizeChange::kSame;
  EXPECT_FALSE(Contains(Short(report), "larger batch"));
}

TEST(TextReport, BothSizesOfATensorThatFoundNoRoomAreNamed) {
  Report report = NoLeakSample();
  ReportOom oom;
  oom.level = Level::kFramework;
  oom.requested = 8 << 20;
  oom.segment_bytes = 20 << 20;
  oom.pool = BlockSizeClass::kSmall;
  oom.pool_hole = 1 << 20;
  oom.largest_hole = 16 << 20;
  oom.device_free = 12 << 20;
  report.oom = {oom};
  const std::string text = Short(report, 1000);
  EXPECT_TRUE(Contains(text, "OUT OF MEMORY  the 16.0 MiB hole is in the large pool")) << text;
  EXPECT_TRUE(Contains(text, "8.00 MiB for a tensor, 20.0 MiB asked of the driver; device 0 had 12.0 MiB free"))
      << text;
}

TEST(TextReport, OnlyWhatTheJobCalledIsCalledEmptyCache) {
  Report report = PyTorchSample();
  ReportRelease release;
  release.calls = release.segments = 1;
  release.bytes = release.least = release.most = 1 << 20;
  release.stack = {report.sites[0].frames.back()};
  report.releases = {release};
  EXPECT_TRUE(Contains(Showing(report, "returned"), "PyTorch flushed its cache once: 1.00 MiB in 1 segment"));
  EXPECT_FALSE(Contains(Short(report), "flushed"));
  report.releases[0].stack[0].function = "empty_cache";
  EXPECT_TRUE(Contains(Showing(report, "returned"), "empty_cache() called once"));
}

TEST(TextReport, SectionsAreShownByName) {
  const Report report = HolderSample();
  EXPECT_FALSE(Contains(Short(report), "held  "));
  EXPECT_TRUE(Contains(Showing(report, "held"), "held  "));
  std::set<std::string> names;
  for (const TextSection& section : TextSections()) EXPECT_TRUE(names.insert(section.name).second) << section.name;
}

TEST(TextReport, TooFewStepsAreNotSoldAsHealth) {
  const std::string text = Render(TooShortSample(), 1000);
  EXPECT_EQ(Lines(text)[0].rfind("NOT ENOUGH EVIDENCE  ", 0), 0u) << text;
  EXPECT_TRUE(Contains(text, TooShortSample().reasons.at(0).text)) << text;
  EXPECT_TRUE(Contains(Lines(text)[0], "(4 steps)")) << text;
  EXPECT_FALSE(Contains(text, "NO LEAK"));
  EXPECT_EQ(Lines(Render(EmptySample()))[0], "NOT ENOUGH EVIDENCE  nothing was recorded: no allocation, no step");
}

TEST(TextReport, ReasonsAreOneLineEachAndTheSuspectIsFirst) {
  Report report = TooShortSample();
  report.reasons = {{"cache", "a.cu:1 may leak"}, {"uncovered", "memory grows in a part of the run without steps"}};
  const std::vector<std::string> lines = Lines(Render(report, 1000));
  EXPECT_EQ(lines[0], "NOT ENOUGH EVIDENCE  a.cu:1 may leak (4 steps)");
  EXPECT_EQ(lines[1], std::string(21, ' ') + "memory grows in a part of the run without steps");
}

TEST(TextReport, SaysWhatCuptiAdds) {
  const std::string text = Render(CuptiSample(), 1000);
  for (const char* words : {
           "not used after step 48 (2.75 s)",
           "half of 49 objects were idle for 0.5 s or more",
           "first kernel after it: attend, for 98 % of the allocations",
           "(only CUPTI saw it)  libcublasLt.so.13",
           "only CUPTI saw libcublasLt.so.13: 104 MiB at the peak, 100 MiB at the end",
           "CUPTI: 123,456 records; 12,000 allocations were hooked as well, 1 of another size",
           "CUPTI dropped 12; 3 dropped because the buffer was full",
           "only CUPTI saw 52 allocations (device) of libcublasLt.so.13 on device 0",
           "of an unknown library on device 0",
           "only hooks saw 4 allocations (physical), 8.00 MiB: this CUPTI does not report that kind",
           "no CUPTI from 0 s to 12.5 ms: CUPTI was not at work yet",
       }) {
    EXPECT_NE(text.find(words), std::string::npos) << words << "\n" << text;
  }
}

TEST(TextReport, SaysWhoHoldsALeak) {
  const std::string text = Render(HolderSample(), 1000);
  for (const char* words : {
           "      kept by  history (a list in train.py, 1,204 entries, 602 at step 602): each entry's 'loss' keeps its "
           "graph; 98 % of the leak's bytes; the walk stopped early",
           "      fix      store .item() or .detach() of 'loss'",
           "held           at step 1204, by name: saved for backward 490 MiB, parameters 480 MiB (the walk stopped "
           "early)",
           "not found by the walk, inferred from call stacks: temporary 5.00 MiB",
           "saved for backward by AddmmBackward0 400 MiB, MulBackward0 90.0 MiB",
           "largest shapes: float32 [50257, 768] 147 MiB",
           "largest modules: model.transformer.wte 150 MiB, model.transformer.h.0.mlp.c_fc 9.00 MiB",
       }) {
    EXPECT_TRUE(Contains(text, words)) << words << "\n" << text;
  }
  EXPECT_FALSE(Contains(text, "--holders"));
  // Where no walk was made, one line says how to find out; not for programs without Python.
  EXPECT_TRUE(Contains(Render(PyTorchSample()), "who holds it: run again with --holders"));
  EXPECT_FALSE(Contains(Render(LeakSample()), "who holds it"));
  EXPECT_FALSE(Contains(Render(LeakSample()), "kept by"));
}

TEST(TextReport, ALeakBeginsWithItsLineItsRateAndItsHolder) {
  Report report = HolderSample();
  for (ReportSite& site : report.sites) {
    if (!site.holder) continue;
    for (ReportFrame& frame : site.frames) {
      frame.function = std::string(60, 'f');
      frame.file = "/job/" + std::string(40, 'd') + "/" + frame.file;
    }
  }
  for (const int columns : {80, 100, 120}) {
    const std::string text = Render(report, columns);
    const size_t holder = text.find("      kept by  history");
    ASSERT_NE(holder, std::string::npos) << text;
    EXPECT_LE(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(holder), '\n'), 2) << text;
    EXPECT_NE(text.substr(0, text.find('\n')).find("leaks "), std::string::npos) << text;
  }
}

TEST(TextReport, SaysNoFixThatIsNotCertain) {
  Report report = HolderSample();
  for (ReportSite& site : report.sites) {
    if (site.holder) site.holder->hint.clear();
  }
  const std::string text = Render(report);
  EXPECT_TRUE(Contains(text, "kept by"));
  EXPECT_FALSE(Contains(text, "fix  "));
}

TEST(TextReport, AnOutOfMemoryNamesWhoHeldTheMemory) {
  Report report = OutOfMemorySample();
  report.oom.back().held_by = {{"__main__.history", "list", 1204, 490 << 20, 1204, 0.9},
                               {"__main__.head.next….value", "Tensor", std::nullopt, 9 << 20, 3, 0.02}};
  const std::string text = Render(report);
  EXPECT_TRUE(Contains(text, "held at that moment, by name:")) << text;
  EXPECT_TRUE(Contains(text, "490 MiB  __main__.history  (list, 1,204 entries)")) << text;
  EXPECT_TRUE(Contains(text, "9.00 MiB  __main__.head.next....value  (Tensor)")) << text;
}

TEST(TextReport, GrowthOfHostMemoryIsSaidIfItIsClear) {
  Report report = SharedCardSample();
  EXPECT_TRUE(Contains(Render(report), "Host memory of process 4712\n")) << Render(report);
  EXPECT_TRUE(Contains(Render(report, 200), "resident memory grows by 1.00 MiB per step"));
  EXPECT_FALSE(Contains(Render(report, 200), "memray")) << "a simulated device is in the host's memory";
  report.devices[0].name = "H100";
  EXPECT_TRUE(Contains(Render(report, 200), "memray"));
  report.host->resident.growth->refused = "it slows down";
  EXPECT_TRUE(Contains(Render(report, 200), "no clear growth: it slows down")) << Render(report, 200);
  EXPECT_FALSE(Contains(Short(report), "resident"));
  EXPECT_EQ(Lines(Render(report))[0].find("NO LEAK"), 0u) << "it is not the memory of the GPU";
}

TEST(TextReport, ProcessesThatShareACardAreSideBySide) {
  const std::string text = Render(SharedCardSample(), 120);
  EXPECT_TRUE(Contains(text, "A card that 2 processes share: Simulated GPU\n")) << text;
  EXPECT_TRUE(Contains(text, "71.0 MiB of 80.0 GiB")) << text;
  EXPECT_TRUE(Contains(text, "rank 0: 40.0 MiB; peak 61.0 MiB")) << text;
  EXPECT_TRUE(Contains(text, "process 4712: 31.0 MiB; peak 51.0 MiB, 1.00 MiB at its end; started 12 s later")) << text;
  EXPECT_TRUE(Contains(text, "600 MiB: CUDA contexts")) << text;
}

TEST(TextReport, NoLineIsWiderThanTheTerminal) {
  for (const Report& report : AllSamples()) {
    for (int columns : {80, 100, 120}) {
      TextStyle style;
      style.columns = columns;
      for (bool unicode : {false, true}) {
        style.unicode = unicode;
        style.color = unicode;
        for (const std::string& text :
             {RenderText(report, style, {10, /*verbose=*/true, {}, false}), RenderText(report, style)}) {
          for (const std::string& line : Lines(text)) EXPECT_LE(DisplayWidth(line), columns) << line;
        }
      }
    }
  }
}

TEST(TextReport, WithoutColourAndUnicodeItIsPlainAscii) {
  for (const Report& report : {LeakSample(), OutOfMemorySample(), ManySitesSample()}) {
    std::string text = Render(report);
    EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return c == '\n' || (c >= ' ' && c < 127); }));
  }
}

TEST(TextReport, NothingInATraceReachesTheTerminalAsControl) {
  TextStyle style;
  style.unicode = true;
  std::string text = RenderText(HostileTextSample(), style, {10, /*verbose=*/true, {}, false});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_FALSE(Contains(text, "\xe2\x80\xae"));
  EXPECT_EQ(Printable(text.substr(0, text.find('\n'))), text.substr(0, text.find('\n')));
  EXPECT_FALSE(Contains(text, "nan"));
  EXPECT_FALSE(Contains(text, "inf"));
}

TEST(TextReport, TopBoundsEveryList) {
  std::string text = Render(ManySitesSample(), 100, 3);
  EXPECT_TRUE(Contains(text, "and 25 more (--top 28)")) << text;
  EXPECT_LT(Lines(text).size(), 130u);
}

TEST(ShortReport, LeadsWithTheAnswerInAboutTwentyFiveLines) {
  for (const Report& report : AllSamples()) {
    // A table of ranks, and what is incomplete, are as long as they are.
    const size_t more = 2 * report.ranks.size() + report.cards.size() * 6 + report.warnings.size() +
                        report.devices.size() + 2 * report.oom.size();
    EXPECT_LE(Lines(Short(report)).size(), 25u + more) << Short(report);
  }
  EXPECT_EQ(Lines(Short(LeakSample()))[0], Lines(Render(LeakSample()))[0]);
  EXPECT_LE(Lines(Short(NoLeakSample())).size(), 20u);
}

}  // namespace
}  // namespace vramtrack
