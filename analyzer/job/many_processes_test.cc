// SPDX-License-Identifier: Apache-2.0
//
// A program of its own: the most memory that a process ever used is all there is to ask for.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <vector>

#include "absl/strings/str_cat.h"
#include "analyzer/job/job_findings.h"
#include "analyzer/job/testing/sample_job.h"

namespace vramtrack {
namespace {

uint64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

TEST(JobFindings, TenThousandProcessesNeedLittleMemory) {
  constexpr int kRanks = 10000, kSites = 100, kFrames = 20;
  std::vector<ReportSite> sites;
  for (int s = 0; s < kSites; ++s) {
    const bool leaks = s < 2;
    sites.push_back(SampleSite(absl::StrCat("allocates_", s), 0, leaks ? Verdict::kLeak : Verdict::kSteady,
                               leaks ? 4 * kMiB : 0, kFrames));
  }
  const uint64_t before = PeakResidentBytes();
  std::chrono::duration<double> joining{};
  const auto timed = [&](auto action) {
    const auto begin = std::chrono::steady_clock::now();
    action();
    joining += std::chrono::steady_clock::now() - begin;
  };
  FindingsJoin join;
  for (int rank = 0; rank < kRanks; ++rank) {
    ProcessFindings process = SampleRank(rank);
    process.sites = sites;
    for (ReportSite& site : process.sites) site.device = process.devices[0].index;
    timed([&] { join.Add(std::move(process)); });
  }
  Report report;
  timed([&] { report = join.Finish(); });
  const uint64_t grown = PeakResidentBytes() - before;
  std::printf("%d processes of %d sites: %.2f s, %.0f MiB\n", kRanks, kSites, joining.count(),
              static_cast<double>(grown) / kMiB);
  EXPECT_EQ(report.processes.size(), static_cast<size_t>(kRanks));
  EXPECT_EQ(report.ranks.size(), static_cast<size_t>(kRanks));
  EXPECT_EQ(report.sites.size(), 8u * kSites);
  EXPECT_EQ(report.sites[0].across->leak, static_cast<uint64_t>(kRanks));
  EXPECT_EQ(report.devices.size(), 8u);
  EXPECT_EQ(report.timeline.size(), 8u);
  EXPECT_LT(report.timeline[0].at_high.sites[0].first.value(), report.sites.size());
  EXPECT_LT(grown, 1024 * kMiB);
}

}  // namespace
}  // namespace vramtrack
