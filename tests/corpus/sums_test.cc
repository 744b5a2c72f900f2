// SPDX-License-Identifier: Apache-2.0
//
// What a report says adds up, and its fields agree with each other, on every emulated case: somebody can add up the
// lines of a device's growth by hand and get the growth of the device.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/model/process_findings.h"
#include "tests/corpus/suites.h"

namespace vramtrack::corpus {
namespace {

using Complaints = std::vector<std::string>;

Complaints Contradictions(const ReportSite& site) {
  Complaints wrong;
  const auto expect = [&](bool right, const char* what) {
    if (!right) wrong.push_back(std::string(what) + ": " + NameOf(site.verdict) + ": " + site.explanation);
  };
  const bool leak = IsLeak(site), unsure = site.verdict == Verdict::kInsufficientEvidence;
  expect(!site.explanation.empty(), "there is no explanation");
  expect(unsure == !site.reason.empty(), "what is unsure has a reason");
  expect(leak || !site.onset_step, "an onset of no leak");
  expect(leak == (site.group || !site.part_of.is_none()), "a leak is one of its own or a part");
  expect(site.frees <= site.allocations, "more frees than allocations");
  if (!leak) return wrong;
  constexpr double kRounding = 1e-9;
  expect(site.rate_bytes_per_step > 0 || site.rate_objects_per_step > 0, "a leak of nothing");
  expect(site.rate_ci_low <= site.rate_bytes_per_step * (1 + kRounding), "below its interval");
  expect(site.rate_ci_high >= site.rate_bytes_per_step * (1 - kRounding), "above its interval");
  return wrong;
}

Complaints Sums(const ReportGrowthLedger& growth) {
  Complaints wrong;
  int64_t sum = growth.other_grown;
  for (const ReportGrowthLine& line : growth.lines) {
    sum += line.grown;
    if (line.verdict == Verdict::kInsufficientEvidence && (line.reason.empty() || line.why.empty())) {
      wrong.push_back("no reason why " + line.line + " is unsure");
    }
  }
  if (sum != growth.grown)
    wrong.push_back("lines that grew by " + std::to_string(sum) + ", not " + std::to_string(growth.grown));
  if (static_cast<int64_t>(growth.to - growth.from) != growth.grown)
    wrong.push_back("levels do not differ by the growth");
  return wrong;
}

Complaints Wrong(const Report& report) {
  Complaints wrong;
  const auto add = [&wrong](Complaints more) { wrong.insert(wrong.end(), more.begin(), more.end()); };
  for (const ReportSite& site : report.sites) add(Contradictions(site));
  for (const ReportDevice& device : report.devices) {
    if (device.growth && device.growth->ledger) add(Sums(*device.growth->ledger));
  }
  if (report.pinned_growth) add(Sums(*report.pinned_growth));
  if (report.handle_growth) add(Sums(*report.handle_growth));
  for (const ReportPeakLines& peak : report.peak_lines) {
    uint64_t bytes = peak.other_bytes;
    for (const ReportPeakLine& line : peak.lines) {
      bytes += line.bytes;
      if (line.bytes > peak.live || line.peak_without > peak.live) wrong.push_back("a line has more than the peak");
    }
    if (peak.other_bytes > peak.live) wrong.push_back("the lines of the peak have more than it");
    if (bytes != peak.live) wrong.push_back("the lines of the peak do not add up to it");
  }
  return wrong;
}

TEST(Sums, AddUpInEveryCase) {
  Selection selection;
  selection.steps = {100};
  std::vector<RunSpec> runs;
  const std::vector<RunSpec> cases = CaseRuns(selection), pairs = PairRuns(selection);
  for (size_t i = 0; i < cases.size(); i += 2) runs.push_back(cases[i]);  // of each case some of its five seeds
  for (size_t i = 0; i < pairs.size(); i += 11) runs.push_back(pairs[i]);
  std::mutex mutex;
  size_t sites = 0, leaks = 0, grown = 0;
  Complaints wrong;
  ForEach(runs.size(), static_cast<int>(std::max(1u, std::thread::hardware_concurrency())), [&](size_t i) {
    const Emulation run = Emulate(runs[i].shape, runs[i].flows, runs[i].options);
    const auto trace = Trace::Read(run.trace, runs[i].id);
    if (!trace.ok()) return;  // the emulation's own test
    AnalyzeOptions options;
    options.top = 200;
    std::vector<ProcessFindings> processes;
    processes.push_back(FindInProcess(**trace, options));
    const Report report = JoinFindings(std::move(processes));
    const Complaints complaints = Wrong(report);
    const std::lock_guard<std::mutex> lock(mutex);
    sites += report.sites.size();
    leaks += static_cast<size_t>(
        std::count_if(report.sites.begin(), report.sites.end(), [](const ReportSite& site) { return IsLeak(site); }));
    for (const ReportDevice& device : report.devices)
      grown += device.growth && device.growth->ledger && device.growth->ledger->grown > 0;
    for (const std::string& what : complaints) {
      wrong.push_back(runs[i].id + ", seed " + std::to_string(runs[i].options.seed % 100) + ": " + what);
    }
  });
  std::sort(wrong.begin(), wrong.end());
  for (size_t i = 0; i < wrong.size() && i < 40; ++i) ADD_FAILURE() << wrong[i];
  EXPECT_EQ(wrong.size(), 0u);
  EXPECT_GT(sites, 10000u);
  EXPECT_GT(leaks, 200u);
  EXPECT_GT(grown, 200u);
}

}  // namespace
}  // namespace vramtrack::corpus
