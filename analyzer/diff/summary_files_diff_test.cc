// SPDX-License-Identifier: Apache-2.0
//
// Tests that diff accepts summaries as files, of one process and of jobs, on either side.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/diff/diff.h"
#include "analyzer/diff/testing/test_job.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/diff_text.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"
#include "proto/frame.h"
#include "proto/frame_scanner.h"

namespace vramtrack {
namespace {

class SummaryFilesDiff : public ::testing::Test {
 protected:
  std::string Write(const std::string& bytes, const std::string& suffix) { return folder_.Write(bytes, suffix); }
  std::string Trace(const JobOptions& job) { return Write(Job(job).Run(), ".vtrace"); }
  std::string Summarized(const std::vector<std::string>& traces) {
    Summary summary;
    for (const std::string& trace : traces) {
      absl::StatusOr<ProcessSummary> process = SummarizeProcess(trace, {});
      EXPECT_TRUE(process.ok()) << process.status();
      // The builder's traces are all of one host, time and process.
      process->identity.pid = static_cast<uint32_t>(process->findings.process.rank.value_or(0));
      summary.Add(*process);
    }
    summary.Reduce();
    return Write(summary.Write(), ".vts");
  }
  static DiffReport Compare(const std::string& base, const std::string& next) {
    const absl::StatusOr<DiffReport> report = Diff({base}, {next});
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : DiffReport();
  }

 private:
  TestFolder folder_;
};

std::string FindingsOf(DiffReport report) {
  report.base.paths = report.next.paths = {};
  report.first_divergence.reset();
  return RenderDiffJson(report);
}

TEST_F(SummaryFilesDiff, IsThatOfTheTracesOnEitherSide) {
  JobOptions leaky;
  leaky.leak = 64 << 10;
  leaky.activation = 12 * kMiB;
  const std::string base = Trace({}), next = Trace(leaky);
  const std::string base_summary = Summarized({base}), next_summary = Summarized({next});
  const std::string wanted = FindingsOf(Compare(base, next));
  EXPECT_EQ(FindingsOf(Compare(base_summary, next_summary)), wanted);
  EXPECT_EQ(FindingsOf(Compare(base_summary, next)), wanted);
  EXPECT_EQ(FindingsOf(Compare(base, next_summary)), wanted);
  const DiffReport same = Compare(base, base_summary);
  EXPECT_TRUE(same.identical);
  EXPECT_TRUE(same.added.empty() && same.grown.empty() && same.gone.empty() && same.shrunk.empty());
}

// In the summary's windows of several steps, and its bins of several steps of a device.
TEST_F(SummaryFilesDiff, OfALongTraceIsPutTogetherAsTheSummaryIs) {
  for (const int steps : {300, 3000}) {
    JobOptions job, changed;
    job.steps = changed.steps = steps;
    changed.leak = 64 << 10;
    changed.activation = 12 * kMiB;
    const std::string base = Trace(job), next = Trace(changed), base_summary = Summarized({base});
    const DiffReport same = Compare(base_summary, base), traces = Compare(base, next);
    EXPECT_TRUE(same.identical);
    EXPECT_TRUE(same.added.empty() && same.grown.empty() && same.gone.empty() && same.shrunk.empty());
    const DiffReport mixed = Compare(base_summary, next);
    ASSERT_EQ(mixed.added.size(), traces.added.size()) << RenderDiffText(mixed, {});
    ASSERT_EQ(mixed.grown.size(), traces.grown.size()) << RenderDiffText(mixed, {});
    EXPECT_EQ(mixed.added.at(0).new_value, traces.added.at(0).new_value);
    EXPECT_EQ(mixed.grown.at(0).new_value, traces.grown.at(0).new_value);
    EXPECT_EQ(mixed.devices.at(0).peak.significant, traces.devices.at(0).peak.significant);
    EXPECT_EQ(mixed.devices.at(0).peak.next, traces.devices.at(0).peak.next);
  }
}

TEST_F(SummaryFilesDiff, OfARecordWithHolesNothingIsSaidToBeUnchanged) {
  JobOptions job;
  job.steps = 20000;
  std::string file = Job(job).Run();
  const std::string whole = Write(file, ".vtrace");
  TraceLayout layout;
  ASSERT_EQ(ScanTrace(file, &layout), "");
  ASSERT_GT(layout.blocks.size(), 3u);
  for (size_t i = 1; i < layout.blocks.size(); i += 4) file[layout.blocks[i].offset + kSealedPrefixBytes + 3] ^= 1;
  const std::string damaged = Write(file, ".vtrace");
  EXPECT_EQ(Compare(whole, whole).base.incomplete, "");
  for (const std::string& path : {damaged, Summarized({damaged})}) {
    const DiffReport report = Compare(path, path);
    EXPECT_NE(report.base.incomplete, "");
    EXPECT_EQ(AnswerOf(report).paint, Paint::kWarning) << AnswerOf(report).title;
  }
}

// So many processes leave less detail of each.
TEST_F(SummaryFilesDiff, OfAJobComparesByRank) {
  const auto job = [this](uint64_t leak) {
    std::vector<std::string> traces;
    for (int rank = 0; rank < 20; ++rank) {
      JobOptions options;
      options.rank = rank;
      options.steps = 300;
      options.leak = leak;
      traces.push_back(Trace(options));
    }
    return Summarized(traces);
  };
  const std::string base = job(0), next = job(64 << 10);
  const DiffReport same = Compare(base, base);
  EXPECT_TRUE(same.identical);
  EXPECT_EQ(same.base.processes.size(), 20u);
  EXPECT_TRUE(same.added.empty() && same.grown.empty()) << RenderDiffText(same, {});
  const DiffReport leaky = Compare(base, next);
  ASSERT_EQ(leaky.added.size(), 1u) << RenderDiffText(leaky, {});
  EXPECT_EQ(leaky.added[0].new_value, 20 * (64 << 10));
  EXPECT_TRUE(leaky.tested);
}

TEST_F(SummaryFilesDiff, RefusesStepMarksAndSaysWhichFileIsDamaged) {
  const std::string trace = Trace({}), summary = Summarized({trace});
  DiffOptions options;
  options.analyze.step_marks = "marks";
  EXPECT_FALSE(Diff({summary}, {trace}, options).ok());
  const std::string damaged = Write(std::string("\x1f\x8b") + "nothing of the kind", ".vts");
  const absl::StatusOr<DiffReport> report = Diff({damaged}, {trace});
  ASSERT_FALSE(report.ok());
  EXPECT_NE(report.status().message().find(damaged), std::string::npos) << report.status();
}

}  // namespace
}  // namespace vramtrack
