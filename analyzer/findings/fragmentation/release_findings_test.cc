// SPDX-License-Identifier: Apache-2.0
//
// What giving memory back costs in time, in traces where that is known.
#include "analyzer/findings/fragmentation/release_findings.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kMillisecond = 1000000;  // in ticks

// Steps of 20 ms. Each `period`-th one gives four segments back, `slow` ms each, and the next one is `again` ms longer.
std::vector<ReportRelease> After(uint64_t steps, uint64_t period, uint64_t slow, uint64_t again) {
  TraceBuilder trace;
  trace.DefineProcess(0, 4711, {"./job"});
  trace.DefineDevice(0, 0, "Emulated", 4096 * kMiB);
  for (uint32_t stack = 1; stack < 5; ++stack) trace.DefineStack(0, stack, {0x400000 + stack * 0x100});
  uint64_t time = 1000;
  std::vector<AllocationId> segments;
  const auto fill = [&] {
    for (uint64_t i = segments.size(); i < 4; ++i) {
      const uint64_t address = (uint64_t{1} << 40) + i * 32 * kMiB;
      segments.push_back(trace.Allocate(0, ++time, schema::DEVICE, 0, 1, address, 20 * kMiB));
      const AllocationId block = trace.Allocate(0, ++time, schema::FRAMEWORK_BLOCK, 0, 2, address, 16 * kMiB);
      trace.Free(0, ++time, schema::FRAMEWORK_BLOCK, 0, block);
    }
  };
  for (uint64_t step = 0; step < steps; ++step) {
    if (segments.empty() && step > 0) time += again * kMillisecond;
    fill();
    const AllocationId block = trace.Allocate(0, ++time, schema::FRAMEWORK_BLOCK, 0, 3, uint64_t{1} << 40, 16 * kMiB);
    // Steps differ by a little.
    time += 20 * kMillisecond + step % 7 * 1000;
    trace.Free(0, ++time, schema::FRAMEWORK_BLOCK, 0, block);
    if (step % period == period - 1) {
      trace.Event(0, ++time, schema::MARK, static_cast<schema::Kind>(schema::MARK_RELEASE), 0, 4, {0, 0});
      for (const AllocationId& segment : segments) {
        trace.Free(0, time, schema::DEVICE, 0, segment);
        time += slow * kMillisecond;
      }
      segments.clear();
    }
    trace.Step(0, ++time, step);
  }
  const std::string path = ::testing::TempDir() + "/releases.vtrace";
  std::ofstream(path, std::ios::binary) << trace.Finish();
  absl::StatusOr<std::unique_ptr<Trace>> opened = Trace::Open(path);
  EXPECT_TRUE(opened.ok());
  ProcessFindings findings = FindInProcess(**opened, {});
  remove(path.c_str());
  return std::move(findings.releases);
}

TEST(ReleaseFindings, KnowHowLongCallsTook) {
  const std::vector<ReportRelease> releases = After(100, 10, 3, 5);
  ASSERT_EQ(releases.size(), 1u);
  const ReportRelease& release = releases[0];
  EXPECT_EQ(release.calls, 10u);
  EXPECT_EQ(release.timed, 10u);
  // Of four frees of 3 ms three are followed by another one, and the mark of the step comes right after the last.
  EXPECT_NEAR(release.seconds_at_least, 10 * .009, 1e-4);
  EXPECT_NEAR(release.seconds_at_most, 10 * .012, 1e-4);
  // 12 ms in the step of the call, 5 in the next one. The last call has no next step.
  ASSERT_TRUE(release.extra_seconds.has_value());
  EXPECT_NEAR(*release.extra_seconds, .017, 1e-4);
  EXPECT_LE(release.extra_low, .017);
  EXPECT_GE(release.extra_high, .017 - 1e-6);
  EXPECT_LT(release.extra_high - release.extra_low, .001);
}

TEST(ReleaseFindings, CompareOnlyWithStepsThatAreFreeOfCalls) {
  // Each step, or every second one: none is left to compare with.
  for (const uint64_t period : {1, 2}) {
    const std::vector<ReportRelease> releases = After(100, period, 3, 0);
    ASSERT_EQ(releases.size(), 1u);
    EXPECT_FALSE(releases[0].extra_seconds.has_value()) << period;
  }
  // Three calls after warm-up are too few.
  EXPECT_FALSE(After(40, 10, 3, 0).at(0).extra_seconds.has_value());
}

}  // namespace
}  // namespace vramtrack
