// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/diff.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/diff/testing/test_job.h"
#include "analyzer/findings/core/known_findings.h"
#include "analyzer/findings/core/pass_plan.h"
#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/model/process_findings.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/diff_text.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

DiffReport DiffOf(const JobOptions& base, const JobOptions& next, const DiffOptions& options = {}) {
  TestFolder folder;
  const absl::StatusOr<DiffReport> report =
      Diff({folder.Write(Job(base).Run())}, {folder.Write(Job(next).Run())}, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *report : DiffReport();
}

size_t Findings(const DiffReport& report) {
  return report.added.size() + report.gone.size() + report.grown.size() + report.shrunk.size();
}

bool AnyDeviceChanged(const DiffReport& report) {
  for (const DiffDevice& device : report.devices) {
    if (device.peak.significant || device.growth.significant || device.fragmentation.significant) return true;
  }
  return false;
}

void ExpectNothing(const DiffReport& report) {
  EXPECT_TRUE(report.comparable) << report.reason;
  EXPECT_EQ(Findings(report), 0u) << RenderDiffText(report, {});
  EXPECT_FALSE(AnyDeviceChanged(report)) << RenderDiffText(report, {});
}

TEST(Diff, OfARunWithItselfIsNothing) {
  const DiffReport report = DiffOf({}, {});
  ExpectNothing(report);
  EXPECT_TRUE(report.identical);
  EXPECT_FALSE(report.first_divergence);
  EXPECT_TRUE(report.moved.empty());
  EXPECT_EQ(report.matched_sites, 4u);
  EXPECT_NE(RenderDiffText(report, {}).find("identical allocation sequence of 601 events"), std::string::npos)
      << RenderDiffText(report, {});
}

TEST(Diff, AfterMovingLinesIsNothingButMoves) {
  const DiffReport report = DiffOf({}, With([](JobOptions* job) { job->line_shift = 7; }));
  ExpectNothing(report);
  EXPECT_TRUE(report.identical);
  EXPECT_EQ(report.moved.size(), 4u);
}

TEST(Diff, AfterRenamingTakesAMapWhereNothingElseTells) {
  const JobOptions renamed = With([](JobOptions* job) { job->suffix = "_v2"; });
  DiffOptions options;
  for (int i = 1; i <= 8; ++i) {
    const std::string name = "function" + std::to_string(i);
    options.renames.push_back({name, name + "_v2"});
  }
  const DiffReport report = DiffOf({}, renamed, options);
  ExpectNothing(report);
  EXPECT_TRUE(report.identical);
}

TEST(Diff, OfAMovedFileIsNothing) {
  DiffOptions options;
  options.renames = {{"train.py", "training/loop.py"}};
  const JobOptions moved = With([](JobOptions* job) { job->file = "/repo/training/loop.py"; });
  ExpectNothing(DiffOf({}, moved, options));
}

TEST(Diff, OfRunsOfDifferentLengthComparesTheStepsOfBoth) {
  for (const uint64_t leak : {uint64_t{0}, kMiB / 2}) {
    const DiffReport report = DiffOf(With([&](JobOptions* job) { job->leak = leak; }), With([&](JobOptions* job) {
                                       job->leak = leak;
                                       job->steps = 300;
                                     }));
    ExpectNothing(report);
    EXPECT_NE(report.normaliser.find("first 100 steps"), std::string::npos) << report.normaliser;
    EXPECT_FALSE(report.identical);
    ASSERT_TRUE(report.first_divergence);
    EXPECT_TRUE(report.first_divergence->base_frames.empty());
    EXPECT_FALSE(report.first_divergence->new_frames.empty());
  }
}

TEST(Diff, TakesMicroStepsTogether) {
  const JobOptions fine = With([](JobOptions*job) { job->steps = 400; }), coarse = With([](JobOptions*job) {
                                                                            job->steps = 400;
                                                                            job->mark_every = 4;
                                                                          });
  DiffReport report = DiffOf(fine, coarse);
  ExpectNothing(report);
  EXPECT_NE(report.normaliser.find("4 steps of the base are taken as one"), std::string::npos) << report.normaliser;
  report = DiffOf(coarse, fine);
  ExpectNothing(report);
  EXPECT_NE(report.normaliser.find("4 steps of the new run are taken as one"), std::string::npos) << report.normaliser;
}

TEST(Diff, LeavesOutWhatIsInProportionToTheSizeOfSteps) {
  const DiffReport report = DiffOf(With([](JobOptions* job) { job->step_size = 256; }), With([](JobOptions* job) {
                                     job->step_size = 512;
                                     job->activation *= 2;
                                   }));
  EXPECT_EQ(Findings(report), 0u) << RenderDiffText(report, {});
  EXPECT_TRUE(report.devices.at(0).peak.significant);
  EXPECT_NE(report.normaliser.find("1 site that changed in proportion"), std::string::npos) << report.normaliser;
}

TEST(Diff, SizesOfStepsThatAreNotComparedDoNotCount) {
  const JobOptions base = With([](JobOptions* job) { job->step_size = 256; });
  const DiffReport report = DiffOf(base, With([&](JobOptions* job) {
                                     *job = base;
                                     job->steps *= 2;
                                     job->sized_steps = base.steps;
                                   }));
  EXPECT_EQ(report.normaliser.find("of size"), std::string::npos) << report.normaliser;
}

TEST(Diff, FindsANewLeakAndOneThatIsGone) {
  const JobOptions leaky = With([](JobOptions* job) { job->leak = 64 << 10; });
  const DiffReport report = DiffOf({}, leaky);
  ASSERT_EQ(report.added.size(), 1u) << RenderDiffText(report, {});
  EXPECT_EQ(Findings(report), 1u);
  // What has leaked is in the peak as well, though from one step to the next that wanders as much as it has grown by.
  EXPECT_TRUE(report.devices.at(0).growth.significant);
  EXPECT_TRUE(report.devices.at(0).peak.significant);
  EXPECT_EQ(report.devices.at(0).peak.delta(), 100 * (64 << 10));
  const DiffFinding& leak = report.added[0];
  EXPECT_EQ(leak.unit, ChangeUnit::kBytesLivePerStep);
  EXPECT_EQ(leak.delta(), 64 << 10);
  EXPECT_TRUE(leak.leak);
  EXPECT_FALSE(leak.base_site);
  EXPECT_EQ(leak.frames.at(leak.naming_frame).function, "function4");
  EXPECT_EQ(RenderDiffText(report, {}).rfind("NEW LEAK", 0), 0u) << RenderDiffText(report, {});
  EXPECT_NE(RenderDiffMarkdown(report).find("NEW LEAK"), std::string::npos);
  ASSERT_TRUE(report.first_divergence);

  const DiffReport fixed = DiffOf(leaky, {});
  ASSERT_EQ(fixed.gone.size(), 1u);
  EXPECT_EQ(Findings(fixed), 1u);
  EXPECT_EQ(RenderDiffText(fixed, {}).rfind("LEAK GONE", 0), 0u);
}

TEST(Diff, SaysThatALeakIsProbablyGoneWhereTooFewStepsAreShared) {
  const auto job = [](int steps, uint64_t leak) {
    return With([=](JobOptions* options) {
      options->steps = steps;
      options->leak = leak;
    });
  };
  // The warm-up of the longer run is as long as the other one.
  const DiffReport report = DiffOf(job(60, kMiB), job(800, 0));
  EXPECT_FALSE(report.tested);
  const std::string text = RenderDiffText(report, {});
  EXPECT_EQ(text.rfind("PROBABLY GONE", 0), 0u) << text;
  EXPECT_EQ(text.find("too few steps"), std::string::npos) << text;
}

TEST(Diff, OfALeakOfSeveralSitesIsOneFinding) {
  const JobOptions leaky = With([](JobOptions* job) { job->graph = 64 << 10; });
  const DiffReport report = DiffOf({}, leaky);
  EXPECT_EQ(Findings(report), 1u) << RenderDiffText(report, {});
  ASSERT_EQ(report.added.size(), 1u);
  const DiffFinding& leak = report.added[0];
  EXPECT_EQ(leak.delta(), 3 * (64 << 10));
  EXPECT_TRUE(leak.leak);
  ASSERT_EQ(leak.parts.size(), 1u);
  EXPECT_EQ(leak.frames[0].line + leak.parts[0].frames[0].line, 185u);
  EXPECT_NE(leak.explanation.find("1 other site of the same leak"), std::string::npos) << leak.explanation;
  const DiffReport fixed = DiffOf(leaky, {});
  EXPECT_EQ(Findings(fixed), 1u) << RenderDiffText(fixed, {});
  ASSERT_EQ(fixed.gone.size(), 1u);
  EXPECT_EQ(fixed.gone[0].parts.size(), 1u);
}

TEST(Diff, NamesSitesAsTheReportsDo) {
  TestFolder folder;
  const std::string base = folder.Write(Job(With([](JobOptions* job) { job->two_lines = 4 * kMiB; })).Run());
  const std::string next = folder.Write(Job(With([](JobOptions* job) { job->two_lines = 5 * kMiB; })).Run());
  // The id of the site at a line of function9.
  const auto id_at = [](const std::string& path, uint32_t line) {
    const auto trace = Trace::Open(path);
    EXPECT_TRUE(trace.ok());
    std::vector<ProcessFindings> processes;
    processes.push_back(FindInProcess(**trace, {}));
    for (const ReportSite& site : JoinFindings(std::move(processes)).sites) {
      if (site.frames.at(0).function == "function9" && site.frames[0].line == line) return site.id;
    }
    return std::string("none");
  };
  const absl::StatusOr<DiffReport> report = Diff({base}, {next});
  ASSERT_TRUE(report.ok());
  ASSERT_EQ(report->grown.size(), 2u) << RenderDiffText(*report, {});
  for (const DiffFinding& finding : report->grown) {
    EXPECT_EQ(finding.base_site, id_at(base, finding.frames.at(0).line));
    EXPECT_EQ(finding.new_site, id_at(next, finding.frames.at(0).line));
  }
  EXPECT_NE(report->grown[0].new_site, report->grown[1].new_site);
}

TEST(Diff, FindsALargerAllocation) {
  const DiffReport report = DiffOf({}, With([](JobOptions* job) { job->activation = 12 * kMiB; }));
  ASSERT_EQ(report.grown.size(), 1u) << RenderDiffText(report, {});
  EXPECT_EQ(Findings(report), 1u);
  EXPECT_EQ(report.grown[0].unit, ChangeUnit::kBytesAtPeak);
  EXPECT_EQ(report.grown[0].delta(), 4 * kMiB);
  ASSERT_TRUE(report.grown[0].p_value);
  EXPECT_LT(*report.grown[0].p_value, 1e-6);
  EXPECT_EQ(*report.grown[0].effect_size, 1);
  ASSERT_EQ(report.devices.size(), 1u);
  EXPECT_TRUE(report.devices[0].peak.significant);
  EXPECT_EQ(report.devices[0].peak.delta(), 4 * kMiB);
  EXPECT_NE(RenderDiffText(report, {}).find("of which +4.00 MiB at"), std::string::npos);
}

TEST(Diff, FindsWhatOnlyFewStepsDo) {
  const DiffReport report = DiffOf(With([](JobOptions* job) { job->evaluation = 100 * kMiB; }),
                                   With([](JobOptions* job) { job->evaluation = 300 * kMiB; }));
  EXPECT_TRUE(report.devices.at(0).peak.significant) << RenderDiffText(report, {});
  ASSERT_EQ(report.grown.size(), 1u);
  EXPECT_EQ(report.grown[0].delta(), 200 * kMiB);
}

TEST(Diff, OfNoiseIsNothing) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    const DiffReport report = DiffOf(With([&](JobOptions* job) {
                                       job->noise = true;
                                       job->seed = 2 * seed;
                                     }),
                                     With([&](JobOptions* job) {
                                       job->noise = true;
                                       job->seed = 2 * seed + 1;
                                     }));
    ExpectNothing(report);
    EXPECT_FALSE(report.identical);
    EXPECT_GT(report.small_changes, 0u);
  }
}

TEST(Diff, OfOneStepShowsWhatDiffersAndSaysThatItIsUntested) {
  const auto one = [](JobOptions* job) { job->steps = 1; };
  EXPECT_TRUE(DiffOf(With(one), With(one)).identical);
  const DiffReport report = DiffOf(With(one), With([&](JobOptions* job) {
                                     one(job);
                                     job->activation = 100 * kMiB;
                                   }));
  EXPECT_FALSE(report.tested);
  ASSERT_EQ(report.grown.size(), 1u);
  EXPECT_FALSE(report.grown[0].p_value);
}

TEST(Diff, OfUnrelatedProgramsClaimsNothing) {
  const DiffReport report = DiffOf({}, With([](JobOptions* job) {
                                     job->suffix = "_of_something_else_entirely";
                                     job->file = "/other/place/solver.py";
                                     job->activation = 333 * kMiB;
                                   }));
  EXPECT_FALSE(report.comparable);
  EXPECT_FALSE(report.reason.empty());
  EXPECT_EQ(Findings(report), 0u);
  EXPECT_TRUE(report.devices.empty());
  EXPECT_EQ(RenderDiffText(report, {}).rfind("NOT COMPARABLE", 0), 0u);
}

TEST(Diff, OfAnEmptyTraceSaysSo) {
  TestFolder folder;
  TraceBuilder nothing;
  nothing.DefineProcess(0, 5, {"./nothing"});
  const std::string empty = folder.Write(nothing.Finish()), full = folder.Write(Job({}).Run());
  for (const auto& [base, next] : {std::pair(empty, full), std::pair(full, empty), std::pair(empty, empty)}) {
    const absl::StatusOr<DiffReport> report = Diff({base}, {next});
    ASSERT_TRUE(report.ok()) << report.status();
    EXPECT_FALSE(report->comparable);
    EXPECT_NE(report->reason.find("allocated"), std::string::npos);
  }
  EXPECT_FALSE(Diff({folder.Write("no trace")}, {full}).ok());
  EXPECT_FALSE(Diff({}, {full}).ok());
}

TEST(Diff, OfAJobComparesByRank) {
  TestFolder folder;
  const auto ranks = [&](uint64_t leak, std::vector<int> order) {
    std::vector<std::string> paths;
    for (const int rank : order) {
      paths.push_back(folder.Write(Job(With([&](JobOptions* job) {
                                     job->rank = rank;
                                     job->activation = static_cast<uint64_t>(8 + rank) * kMiB;
                                     job->leak = leak;
                                   })).Run()));
    }
    return paths;
  };
  const absl::StatusOr<DiffReport> same = Diff(ranks(0, {0, 1, 2}), ranks(0, {2, 0, 1}));
  ASSERT_TRUE(same.ok());
  ExpectNothing(*same);
  EXPECT_TRUE(same->identical);
  EXPECT_EQ(same->base.processes.size(), 3u);
  const absl::StatusOr<DiffReport> leaky = Diff(ranks(0, {0, 1, 2}), ranks(kMiB, {2, 0}));
  ASSERT_TRUE(leaky.ok());
  ASSERT_EQ(leaky->added.size(), 1u);
  EXPECT_EQ(leaky->added[0].new_value, 2.0 * kMiB);
  EXPECT_EQ(leaky->warnings.size(), 1u);  // rank 1 has no counterpart
  EXPECT_EQ(leaky->next.incomplete, leaky->warnings[0]);
  EXPECT_EQ(same->next.incomplete, "");
  std::vector<std::string> damaged = ranks(0, {0, 1, 2});
  damaged.push_back(folder.Write("no trace"));
  EXPECT_NE(Diff(damaged, ranks(0, {0, 1, 2}))->base.incomplete, "");
}

TEST(Diff, GivesTheSameBytes) {
  const JobOptions noisy = With([](JobOptions* job) { job->noise = true; });
  TestFolder folder;
  const std::string base = folder.Write(Job(noisy).Run());
  const std::string next = folder.Write(Job(With([](JobOptions* job) { job->leak = kMiB; })).Run());
  DiffOptions one;
  one.analyze.threads = 1;
  EXPECT_EQ(RenderDiffJson(*Diff({base}, {next}, one)), RenderDiffJson(*Diff({base}, {next})));
}

// The replay that the comparison needs is that of the report, where somebody wants one.
TEST(Diff, ReadsNoTraceMoreOftenForAReport) {
  TestFolder folder;
  const std::string base = folder.Write(Job({}).Run());
  const std::string next = folder.Write(Job(With([](JobOptions* job) { job->leak = kMiB; })).Run());
  const auto passes_of = [&](KnownFindings* known, std::string* diff) {
    PassLog passes;
    DiffOptions options;
    options.analyze.known = known;
    options.analyze.passes = &passes;
    *diff = RenderDiffJson(*Diff({base}, {next}, options));
    return passes.Text();
  };
  const auto count = [](const std::string& text, const std::string& what) {
    size_t times = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++times;
    return times;
  };
  KnownFindings known({base, next});
  std::string plain, with_reports;
  const std::string alone = passes_of(nullptr, &plain), beside = passes_of(&known, &with_reports);
  EXPECT_EQ(plain, with_reports);
  EXPECT_TRUE(known.Take(base) && known.Take(next));
  for (const std::string* text : {&alone, &beside}) {
    EXPECT_EQ(count(*text, "  detail  "), 2u) << *text;
    EXPECT_EQ(count(*text, "comparison\n"), 2u) << *text;
    EXPECT_EQ(count(*text, "divergence"), 2u) << *text;
  }
  EXPECT_EQ(count(alone, "leaks, "), 0u) << alone;
  EXPECT_EQ(count(beside, "leaks, "), 2u) << beside;
}

}  // namespace
}  // namespace vramtrack
