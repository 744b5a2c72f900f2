// SPDX-License-Identifier: Apache-2.0
//
// What a library takes past all hooks is part of the one ledger when CUPTI tells of it: the device's figures rise by it
// at the moment it was there, and what it leaks is a leak with the library's name. Nothing else is judged otherwise.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "analyzer/pipeline/analyze.h"
#include "tests/cupti/simulated_cupti.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr int kSteps = 60;
constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kLeaked = 6 * kMiB;  // whole pages of the device

Report RunHiddenLeak(uint64_t bytes, bool cupti, bool asks = false) {
  RunOptions options;
  if (cupti) options.environment["VRAMTRACK_CUPTI"] = "1";
  options.environment["LD_LIBRARY_PATH"] = SimulatedLibraries(13);
  const RunResult run =
      RunProgram("hidden_leak", {std::to_string(kSteps), std::to_string(bytes), asks ? "asks" : ""}, options);
  EXPECT_EQ(run.out, "done\n");
  EXPECT_EQ(run.err, "");
  absl::StatusOr<Report> report = Analyze(run.traces, {});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

const ReportSite* SiteOf(const Report& report, const std::string& owner, Verdict verdict) {
  for (const ReportSite& site : report.sites) {
    if (site.owner == owner && site.verdict == verdict) return &site;
  }
  return nullptr;
}

// reserved = live + rounding + free, and what is used beside is named.
void ExpectAddsUp(const Report& report) {
  ASSERT_EQ(report.devices.size(), 1u);
  const ReportDevice& device = report.devices[0];
  const ReportFragmentation& split = device.fragmentation;
  EXPECT_EQ(split.reserved, split.live + split.rounding + split.free_pinned + split.free_releasable);
  EXPECT_EQ(device.peak.device_used, device.peak.reserved + device.unattributed_bytes);
  EXPECT_EQ(device.end.device_used, device.end.reserved + device.unattributed_bytes);
  uint64_t at_peak = 0, at_end = 0;
  for (const ReportSite& site : report.sites) {
    if (site.device != 0u) continue;
    at_peak += site.bytes_at_peak;
    at_end += site.live_bytes;
  }
  EXPECT_EQ(device.peak.live, at_peak);
  EXPECT_EQ(device.end.live, at_end);
}

TEST(UnseenMemory, ALeakOfALibraryThatNoHookSeesIsALeak) {
  const Report report = RunHiddenLeak(kLeaked, true);
  ASSERT_EQ(report.ranking.size(), 1u);
  const ReportSite& leak = report.sites[0];
  EXPECT_EQ(report.ranking[0], ReportSiteIndex(0));
  EXPECT_EQ(leak.verdict, Verdict::kLeak);
  EXPECT_EQ(leak.owner, "libhidden_memory.so");
  EXPECT_EQ(leak.level, Level::kDriver);
  EXPECT_EQ(leak.kind, "device");
  EXPECT_DOUBLE_EQ(leak.rate_bytes_per_step, kLeaked);
  EXPECT_DOUBLE_EQ(leak.rate_objects_per_step, 1);
  ASSERT_EQ(leak.frames.size(), 1u);
  EXPECT_EQ(leak.frames[0].language, Language::kCupti);
  ASSERT_EQ(report.devices.size(), 1u);
  const ReportDevice& device = report.devices[0];
  ExpectAddsUp(report);
  EXPECT_EQ(device.end.live, 8 * kMiB + kSteps * kLeaked);
  ASSERT_EQ(device.only_cupti.size(), 1u);
  EXPECT_EQ(device.only_cupti[0].library, "libhidden_memory.so");
  EXPECT_EQ(device.only_cupti[0].at_peak, kSteps * kLeaked + 4 * kMiB);
  EXPECT_EQ(device.only_cupti[0].at_end, kSteps * kLeaked);
  ASSERT_TRUE(device.growth_of);
  EXPECT_NEAR(device.growth_of->device_used.bytes_per_step, kLeaked, 0.1 * kMiB);
}

TEST(UnseenMemory, WhatIsGivenBackIsNoLeakAndCountsWhileItIsThere) {
  const Report report = RunHiddenLeak(0, true);
  EXPECT_TRUE(report.ranking.empty());
  const ReportSite* site = SiteOf(report, "libhidden_memory.so", Verdict::kSteady);
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->allocations, static_cast<uint64_t>(kSteps));
  EXPECT_EQ(site->frees, static_cast<uint64_t>(kSteps));
  ExpectAddsUp(report);
  EXPECT_EQ(report.devices[0].peak.live, 14 * kMiB);
  EXPECT_EQ(report.devices[0].end.live, 8 * kMiB);
}

// A device that was asked in the middle had what the library had taken until then in use: it is not counted twice.
TEST(UnseenMemory, WhatTheDeviceSaidIsInUseIsNotCountedTwice) {
  const Report with = RunHiddenLeak(kLeaked, true, true), without = RunHiddenLeak(kLeaked, false, true);
  ExpectAddsUp(with);
  const uint64_t until = (kSteps / 2 + 1) * kLeaked;
  EXPECT_EQ(without.devices[0].unattributed_bytes, with.devices[0].unattributed_bytes + until);
}

TEST(UnseenMemory, NothingElseIsJudgedOtherwise) {
  const Report with = RunHiddenLeak(kLeaked, true), without = RunHiddenLeak(kLeaked, false);
  EXPECT_TRUE(without.ranking.empty());
  EXPECT_EQ(with.steps.count, without.steps.count);
  std::map<std::string, const ReportSite*> sites;
  for (const ReportSite& site : with.sites) sites[site.id] = &site;
  EXPECT_EQ(with.sites.size(), without.sites.size() + 1);
  for (const ReportSite& site : without.sites) {
    ASSERT_EQ(sites.count(site.id), 1u) << site.id;
    const ReportSite& same = *sites[site.id];
    EXPECT_EQ(same.verdict, site.verdict);
    EXPECT_EQ(same.explanation, site.explanation);
    EXPECT_EQ(same.live_bytes, site.live_bytes);
  }
}

}  // namespace
}  // namespace vramtrack
