// SPDX-License-Identifier: Apache-2.0
//
// How much memory calls released and how long they took, in traces that have both.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20, kBase = uint64_t{1} << 40;
constexpr uint64_t kMillisecond = 1000000;  // in ticks

// Steps of 20 ms. Each tenth one gives four segments back, 3 ms each.
TEST(ReleaseFindings, KnowHowLongCallsTook) {
  JobBuilder job;
  job.Device(4096 * kMiB);
  std::vector<JobObject> segments;
  const auto fill = [&] {
    for (uint64_t i = segments.size(); i < 4; ++i) {
      segments.push_back(job.AllocateAt(1, kBase + i * 32 * kMiB, 20 * kMiB));
      job.Free(job.BlockAt(2, segments.back().address, 16 * kMiB));
    }
  };
  for (uint64_t step = 0; step < 100; ++step) {
    fill();
    const JobObject block = job.BlockAt(3, kBase, 16 * kMiB);
    // Steps differ by a little.
    job.Pass(20 * kMillisecond + step % 7 * 1000);
    job.Free(block);
    if (step % 10 == 9) {
      job.Mark(schema::MARK_RELEASE, 4);
      for (const JobObject& segment : segments) {
        job.Free(segment);
        job.Pass(3 * kMillisecond);
      }
      segments.clear();
    }
    job.EndStep();
  }
  const std::vector<ReportRelease> releases = FindInJob(&job).releases;
  ASSERT_EQ(releases.size(), 1u);
  const ReportRelease& release = releases[0];
  EXPECT_EQ(release.calls, 10u);
  EXPECT_EQ(release.timed, 10u);
  // Of four frees of 3 ms three are followed by another one, and the mark of the step comes right after the last.
  EXPECT_NEAR(release.seconds_at_least, 10 * .009, 1e-4);
  EXPECT_NEAR(release.seconds_at_most, 10 * .012, 1e-4);
}

TEST(ReleaseFindings, GroupTheFreesOfACall) {
  JobBuilder job({}, kMillisecond);
  job.Device(4096 * kMiB);
  const auto segment = [&job](uint64_t place, uint64_t bytes) {
    const JobObject memory = job.AllocateAt(1, kBase + place, bytes);
    job.Free(job.BlockAt(2, kBase + place, bytes));
    return memory;
  };
  // One call that frees from two places within itself.
  const JobObject first = segment(2 * kMiB, 2 * kMiB), second = segment(32 * kMiB, 20 * kMiB);
  job.Mark(schema::MARK_RELEASE, 7);
  job.Free(first);
  job.Mark(schema::MARK_RELEASE, 8);
  job.Free(second);
  // Memory of others is none of it.
  job.Free(job.AllocateAt(1, kBase + 512 * kMiB, 2 * kMiB));
  // A call from one place, and another that is not marked again.
  for (int i = 0; i < 2; ++i) {
    const JobObject again = segment(2 * kMiB, 4 * kMiB);
    if (i == 0) job.Mark(schema::MARK_RELEASE, 9);
    job.Free(again);
  }
  const std::vector<ReportRelease> releases = FindInJob(&job).releases;
  ASSERT_EQ(releases.size(), 2u);
  const ReportRelease& one = releases[0];
  EXPECT_EQ(one.calls, 1u);
  EXPECT_EQ(one.segments, 2u);
  EXPECT_EQ(one.bytes, 22 * kMiB);
  // From the first mark to the second free, and on to the next event.
  EXPECT_EQ(one.timed, 1u);
  EXPECT_NEAR(one.seconds_at_least, .003, 1e-9);
  EXPECT_NEAR(one.seconds_at_most, .004, 1e-9);
  const ReportRelease& two = releases[1];
  EXPECT_EQ(two.calls, 2u);
  EXPECT_EQ(two.least, 4 * kMiB);
  EXPECT_EQ(two.bytes, 8 * kMiB);
  // Nothing follows the second call, so when it ended is not known.
  EXPECT_EQ(two.timed, 1u);
  EXPECT_NEAR(two.seconds_at_least, .001, 1e-9);
  EXPECT_NEAR(two.seconds_at_most, .002, 1e-9);
}

}  // namespace
}  // namespace vramtrack
