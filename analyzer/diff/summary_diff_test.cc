// SPDX-License-Identifier: Apache-2.0
//
// Tests that a diff of summaries finds the same as a diff of their traces.
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/diff/compared_process.h"
#include "analyzer/diff/process_diff.h"
#include "analyzer/diff/testing/test_job.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/profile/make_step_profile.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/diff_text.h"

namespace vramtrack {
namespace {

using nlohmann::json;

// A run, and what a summary of it says.
class TracedRun {
 public:
  explicit TracedRun(const JobOptions& job) : bytes_(Job(job).Run()), trace_(std::move(*Trace::Read(bytes_, "run"))) {}

  const Trace& trace() const { return *trace_; }
  StepProfile Profile() const {
    ProcessAnalysis analysis(*trace_, options_);
    return MakeStepProfile(&analysis);
  }
  // With at most so many windows of steps.
  std::unique_ptr<ComparedProcess> Summary(size_t windows = StepProfile::kMostWindows) const {
    ProcessAnalysis analysis(*trace_, options_);
    StepProfile profile = MakeStepProfile(&analysis);
    Reduce(windows, StepProfile::kMostSites, &profile);
    return std::make_unique<ComparedProcess>(FactsOfTrace(analysis), std::move(profile));
  }

 private:
  const std::string bytes_;
  const std::unique_ptr<Trace> trace_;
  const AnalyzeOptions options_;
};

DiffReport OfTraces(const JobOptions& base, const JobOptions& next, const DiffOptions& options = {}) {
  return Named(CompareProcesses(TracedRun(base).trace(), TracedRun(next).trace(), options));
}

DiffReport OfSummaries(const JobOptions& base, const JobOptions& next, size_t windows = StepProfile::kMostWindows,
                       const DiffOptions& options = {}) {
  return Named(
      CompareProcesses(TracedRun(base).Summary(windows).get(), TracedRun(next).Summary(windows).get(), options));
}

// All but where the sequences part, which summaries do not tell.
json Told(const DiffReport& report) {
  json told = json::parse(RenderDiffJson(report));
  told.erase("first_divergence");
  return told;
}

// The sections, sites and units of all findings.
std::vector<std::string> Verdicts(const DiffReport& report) {
  std::vector<std::string> verdicts;
  const auto add = [&](const char* section, const std::vector<DiffFinding>& findings) {
    for (const DiffFinding& finding : findings) {
      const ReportFrame& frame = finding.frames.at(finding.naming_frame);
      verdicts.push_back(std::string(section) + " " + frame.function + ":" + std::to_string(frame.line) + " " +
                         NameOf(finding.unit));
    }
  };
  add("new", report.added);
  add("gone", report.gone);
  add("grown", report.grown);
  add("shrunk", report.shrunk);
  for (const DiffDevice& device : report.devices) {
    if (device.peak.significant) verdicts.push_back("peak");
    if (device.growth.significant) verdicts.push_back("growth");
  }
  return verdicts;
}

struct Change {
  const char* name;
  JobOptions base, next;
};

std::vector<Change> Changes(int steps) {
  const JobOptions job = With([&](JobOptions* one) { one->steps = steps; });
  const auto with = [&](const std::function<void(JobOptions*)>& change) {
    JobOptions changed = job;
    change(&changed);
    return changed;
  };
  const JobOptions leaky = with([](JobOptions* one) { one->leak = 64 << 10; });
  return {
      {"nothing", job, job},
      {"lines", job, with([](JobOptions* one) { one->line_shift = 7; })},
      {"new leak", job, leaky},
      {"leak gone", leaky, job},
      {"larger leak", leaky, with([](JobOptions* one) { one->leak = 128 << 10; })},
      {"leak of several sites", job, with([](JobOptions* one) { one->graph = 64 << 10; })},
      {"larger block", job, with([](JobOptions* one) { one->activation = 12 * kMiB; })},
      {"smaller block", job, with([](JobOptions* one) { one->activation = 4 * kMiB; })},
      {"new site", job, with([](JobOptions* one) { one->two_lines = 4 * kMiB; })},
      {"few steps", with([](JobOptions* one) { one->evaluation = 100 * kMiB; }),
       with([](JobOptions* one) { one->evaluation = 300 * kMiB; })},
      {"step size", with([](JobOptions* one) { one->step_size = 256; }), with([](JobOptions* one) {
         one->step_size = 512;
         one->activation *= 2;
       })},
      {"micro-steps", job, with([](JobOptions* one) { one->mark_every = 4; })},
  };
}

TEST(SummaryDiff, OfShortRunsIsThatOfTheirTracesToTheByte) {
  for (const Change& change : Changes(100)) {
    EXPECT_EQ(Told(OfSummaries(change.base, change.next)), Told(OfTraces(change.base, change.next))) << change.name;
  }
}

TEST(SummaryDiff, OfUnequalLengthsIsThatOfTheirTraces) {
  for (const uint64_t leak : {uint64_t{0}, kMiB / 2}) {
    const JobOptions base = With([&](JobOptions* job) { job->leak = leak; });
    const JobOptions next = With([&](JobOptions* job) {
      job->leak = leak;
      job->steps = 300;
    });
    const DiffReport summaries = OfSummaries(base, next), traces = OfTraces(base, next);
    EXPECT_EQ(Verdicts(summaries), Verdicts(traces)) << RenderDiffText(summaries, {});
    EXPECT_TRUE(Verdicts(summaries).empty()) << RenderDiffText(summaries, {});
  }
}

TEST(SummaryDiff, OfLongRunsHasTheFindingsAndRatesOfTheirTraces) {
  for (const int steps : {300, 1000, 3000}) {
    for (const Change& change : Changes(steps)) {
      const DiffReport summaries = OfSummaries(change.base, change.next), traces = OfTraces(change.base, change.next);
      EXPECT_EQ(Verdicts(summaries), Verdicts(traces)) << change.name << " " << steps << RenderDiffText(summaries, {});
      EXPECT_EQ(summaries.identical, traces.identical) << change.name;
      ASSERT_EQ(summaries.added.size(), traces.added.size()) << change.name;
      for (size_t i = 0; i < summaries.added.size(); ++i) {
        EXPECT_DOUBLE_EQ(summaries.added[i].new_value, traces.added[i].new_value) << change.name;
      }
    }
  }
}

// The traces' own verdicts on noise are those of diff_test.
TEST(SummaryDiff, OfNoiseIsThatOfTheTraces) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    for (const int steps : {100, 700}) {
      JobOptions base = With([&](JobOptions* job) {
        job->noise = true;
        job->steps = steps;
        job->seed = 2 * seed;
      });
      JobOptions next = base;
      next.seed = 2 * seed + 1;
      EXPECT_TRUE(Verdicts(OfSummaries(base, next)).empty()) << seed;
      next.leak = 64 << 10;
      const DiffReport summaries = OfSummaries(base, next), traces = OfTraces(base, next);
      EXPECT_EQ(Verdicts(summaries), Verdicts(traces)) << seed;
      ASSERT_EQ(summaries.added.size(), 1u) << seed;
      EXPECT_DOUBLE_EQ(summaries.added[0].new_value, traces.added.at(0).new_value);
    }
  }
}

TEST(SummaryDiff, FindsWhatIsNewWithFewWindows) {
  const JobOptions job = With([](JobOptions* one) { one->steps = 500; });
  JobOptions leaky = job;
  leaky.leak = 64 << 10;
  for (const size_t windows : {16, 32, 64}) {
    EXPECT_TRUE(Verdicts(OfSummaries(job, job, windows)).empty()) << windows;
    const DiffReport report = OfSummaries(job, leaky, windows);
    ASSERT_EQ(report.added.size(), 1u) << windows;
    EXPECT_EQ(report.added[0].new_value, 64 << 10);
    EXPECT_TRUE(report.tested);
  }
}

// Windows are as wide as the length of each run has them, or as the number of processes in its summary has.
TEST(SummaryDiff, OfWindowsOfOtherWidthsIsNothingForTheSameRun) {
  const JobOptions job = With([](JobOptions* one) { one->steps = 500; });
  const std::unique_ptr<ComparedProcess> fine = TracedRun(job).Summary(), coarse = TracedRun(job).Summary(16);
  const DiffReport report = Named(CompareProcesses(fine.get(), coarse.get(), {}));
  EXPECT_TRUE(Verdicts(report).empty()) << RenderDiffText(report, {});
  EXPECT_TRUE(report.identical);
}

TEST(StepProfile, AddsUpToTheRun) {
  const StepProfile profile = TracedRun(With([](JobOptions* job) {
                                job->steps = 300;
                                job->leak = 64 << 10;
                                job->noise = true;
                              })).Profile();
  EXPECT_EQ(profile.steps_in_window, 4u);
  EXPECT_EQ(profile.windows(), 75u);
  ASSERT_EQ(profile.sites.size(), 5u);
  for (const ProfileSite& site : profile.sites) {
    SiteWindow all;
    for (const SiteWindow& window : site.windows.sums) {
      all.births += window.births;
      all.born_bytes += window.born_bytes;
      all.deaths += window.deaths;
      all.died_bytes += window.died_bytes;
      all.survivors += window.survivors;
      all.survivor_bytes += window.survivor_bytes;
    }
    EXPECT_EQ(all.births + all.deaths, site.events);
    EXPECT_EQ(all.born_bytes, site.bytes_allocated);
    EXPECT_EQ(all.born_bytes - all.died_bytes, all.survivor_bytes);
    EXPECT_EQ(all.births - all.deaths, all.survivors);
  }
}

TEST(StepProfile, IsReducedInTwoStepsAsInOne) {
  const TracedRun run(With([](JobOptions* job) {
    job->steps = 1001;
    job->leak = 64 << 10;
    job->noise = true;
    job->step_size = 0.1;
  }));
  StepProfile once = run.Profile(), twice = run.Profile();
  Reduce(16, 3, &once);
  Reduce(64, 4, &twice);
  Reduce(16, 3, &twice);
  EXPECT_EQ(once.windows(), 16u);
  ASSERT_EQ(once.sites.size(), 3u);
  EXPECT_TRUE(once.sites.back().leak || once.sites[1].leak || once.sites[0].leak);
  EXPECT_EQ(once.other_sites, twice.other_sites);
  for (size_t i = 0; i < once.windows(); ++i) EXPECT_EQ(once.window_steps[i].mark_sum, twice.window_steps[i].mark_sum);
  for (size_t i = 0; i < once.sites.size(); ++i) {
    EXPECT_EQ(once.sites[i].number, twice.sites[i].number);
    for (size_t window = 0; window < once.windows(); ++window) {
      const SiteWindow a = once.sites[i].windows.At(window), b = twice.sites[i].windows.At(window);
      EXPECT_EQ(a.at_high, b.at_high);
      EXPECT_EQ(a.live, b.live);
      EXPECT_EQ(a.own_most, b.own_most);
    }
  }
  const std::vector<DeviceBin>&of_once = once.devices.at(0).bins, &of_twice = twice.devices.at(0).bins;
  ASSERT_EQ(of_once.size(), of_twice.size());
  for (size_t i = 0; i < of_once.size(); ++i) {
    EXPECT_EQ(of_once[i].floor, of_twice[i].floor);
    EXPECT_EQ(of_once[i].at_highest, of_twice[i].at_highest);
  }
}

}  // namespace
}  // namespace vramtrack
