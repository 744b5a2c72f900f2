// SPDX-License-Identifier: Apache-2.0
//
// What giving memory back costs in time, in traces where that is known.
#include "analyzer/findings/fragmentation/release_findings.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20, kBase = uint64_t{1} << 40;
constexpr uint64_t kMillisecond = 1000000;  // in ticks

// Steps of 20 ms. Each `period`-th one gives four segments back, `slow` ms each, and the next one is `again` ms longer.
std::vector<ReportRelease> After(uint64_t steps, uint64_t period, uint64_t slow, uint64_t again) {
  JobBuilder job;
  job.Device(4096 * kMiB);
  std::vector<JobObject> segments;
  const auto fill = [&] {
    for (uint64_t i = segments.size(); i < 4; ++i) {
      segments.push_back(job.AllocateAt(1, kBase + i * 32 * kMiB, 20 * kMiB));
      job.Free(job.BlockAt(2, segments.back().address, 16 * kMiB));
    }
  };
  for (uint64_t step = 0; step < steps; ++step) {
    if (segments.empty() && step > 0) job.Pass(again * kMillisecond);
    fill();
    const JobObject block = job.BlockAt(3, kBase, 16 * kMiB);
    // Steps differ by a little.
    job.Pass(20 * kMillisecond + step % 7 * 1000);
    job.Free(block);
    if (step % period == period - 1) {
      job.Mark(schema::MARK_RELEASE, 4);
      for (const JobObject& segment : segments) {
        job.Free(segment);
        job.Pass(slow * kMillisecond);
      }
      segments.clear();
    }
    job.EndStep();
  }
  return FindInJob(&job).releases;
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
