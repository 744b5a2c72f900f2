// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/job_findings.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

ReportSite Site(const std::string& function, uint32_t device, const std::string& verdict, double rate, int frames = 3) {
  ReportSite site;
  site.level = "framework";
  site.kind = "framework_block";
  site.device = device;
  site.verdict = verdict;
  site.rate_bytes_per_step = site.rate_ci_low = site.rate_ci_high = rate;
  site.rate_objects_per_step = rate > 0 ? 1 : 0;
  if (IsLeak(site)) site.group = ReportLeak{rate, rate, rate, 1, 0, 0, 0};
  site.allocations = 100;
  site.bytes_at_peak = 10 * kMiB;
  for (int f = 0; f < frames; ++f) {
    ReportFrame frame;
    frame.function = f == 0 ? function : absl::StrCat("a_function_of_the_job_", f);
    frame.file = absl::StrCat("/home/somebody/the_job/a_package/module_", f, ".py");
    frame.module = "/usr/lib/python3/libpython3.so";
    frame.language = "python";
    frame.line = static_cast<uint32_t>(10 + f);
    site.frames.push_back(frame);
  }
  return site;
}

// A rank of a job of eight devices a machine.
ProcessFindings Rank(int rank) {
  ProcessFindings process;
  process.process.pid = static_cast<uint32_t>(1000 + rank);
  process.process.rank = rank;
  process.process.command = {"python", "train.py"};
  process.steps.count = 100;
  ReportDevice device;
  device.index = static_cast<uint32_t>(rank % 8);
  device.peak.live = 1000 * kMiB;
  device.peak.reserved = (1100 + static_cast<uint64_t>(rank % 5)) * kMiB;
  process.devices = {device};
  ReportTimeline timeline;
  timeline.device = device.index;
  for (uint64_t bin = 0; bin < 100; ++bin) {
    timeline.position.push_back(static_cast<double>(bin));
    timeline.live.low.push_back(bin);
    timeline.live.high.push_back(bin + device.peak.live);
  }
  timeline.at_high.sites = {{"0", timeline.live.high}};
  process.timeline = {timeline};
  return process;
}

uint64_t PeakResidentBytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

TEST(JobFindings, TenThousandProcessesNeedLittleMemory) {
  constexpr int kRanks = 10000, kSites = 100, kFrames = 20;
  std::vector<ReportSite> sites;
  for (int s = 0; s < kSites; ++s) {
    sites.push_back(Site(absl::StrCat("allocates_", s), 0, s < 2 ? "leak" : "steady", s < 2 ? 4 * kMiB : 0, kFrames));
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
    ProcessFindings process = Rank(rank);
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
  EXPECT_EQ(report.devices.size(), 8u);
  EXPECT_EQ(report.timeline.size(), 8u);
  EXPECT_EQ(report.timeline[0].at_high.sites[0].first.size(), 8u);  // an id
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  EXPECT_LT(grown, 256 * kMiB);
#endif
}

}  // namespace
}  // namespace vramtrack
