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

}  // namespace
}  // namespace vramtrack
