// SPDX-License-Identifier: Apache-2.0
//
// What is said of peaks and of failed allocations, from traces whose truth is known.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// A program that allocates from the driver, each stack a line of its own.
class Job : public JobBuilder {
 public:
  Job() : JobBuilder({}, 10) { Device(uint64_t{1} << 30); }
  ProcessFindings Find(const AnalyzeOptions& options = {}) { return FindInJob(this, options); }
};

TEST(PeakLines, AddUpToThePeakWhateverIsListed) {
  for (const size_t top : {1, 3, 20}) {
    Job job;
    for (uint32_t stack = 1; stack < 8; ++stack) job.Allocate(stack, stack * 10 * kMiB);
    job.Allocate(0, kMiB);  // no stack was recorded
    for (int step = 0; step < 30; ++step) {
      const JobObject work = job.Allocate(8, 20 * kMiB);
      job.Allocate(9, kMiB);  // leaks
      job.Free(work);
      job.EndStep();
    }
    AnalyzeOptions options;
    options.top = top;
    const ProcessFindings findings = job.Find(options);
    ASSERT_EQ(findings.peak_lines.size(), 1u);
    const ReportPeakLines& peak = findings.peak_lines[0];
    EXPECT_EQ(peak.live, findings.devices[0].peak.live);
    EXPECT_EQ(peak.live, 351 * kMiB - 20 * kMiB);
    uint64_t bytes = peak.other_bytes, sites = peak.other_sites, leaks = 0;
    for (const ReportPeakLine& line : peak.lines) {
      bytes += line.bytes;
      sites += line.sites;
      leaks += line.leak;
      // The work of a step is there at the highest point of each.
      EXPECT_EQ(line.peak_without, peak.live - line.bytes) << line.bytes;
      if (line.leak) {
        EXPECT_EQ(line.bytes, 30 * kMiB);
      }
    }
    EXPECT_EQ(bytes, peak.live);
    EXPECT_EQ(sites, 10u);
    EXPECT_EQ(leaks, 1u);
    EXPECT_EQ(peak.lines.size(), std::min<size_t>(top, 9) + 1);
  }
}

TEST(LateFrees, AFewThatAreFreedLaterThanTheirLikeAreFreedLate) {
  Job job;
  job.Allocate(1, 100 * kMiB);
  JobObject kept = {};
  for (int step = 0; step < 60; ++step) {
    const JobObject object = job.Allocate(3, 10 * kMiB);
    if (step % 10 == 2) job.Free(kept);
    if (step % 10 == 0) {
      kept = object;
    } else {
      job.Free(object);
    }
    job.EndStep();
  }
  job.Free(kept);
  job.EndStep();
  const std::vector<ReportLateFree> late = job.Find().devices[0].late_frees;
  ASSERT_EQ(late.size(), 1u);
  EXPECT_EQ(late[0].peak_saved, 10 * kMiB);
}

TEST(LateFrees, ACleanJobHasNone) {
  Job job;
  job.Allocate(1, 100 * kMiB);
  const JobObject buffer = job.Allocate(2, 20 * kMiB);
  for (int step = 0; step < 30; ++step) job.EndStep();
  job.Free(buffer);
  EXPECT_TRUE(job.Find().devices[0].late_frees.empty());
}

TEST(Peaks, WithoutTheLargestTogether) {
  Job job;
  job.Allocate(1, 10 * kMiB);
  for (int step = 0; step < 30; ++step) {
    const JobObject a = job.Allocate(2, 50 * kMiB), b = job.Allocate(3, 40 * kMiB), c = job.Allocate(4, 30 * kMiB);
    job.Free(a);
    job.Free(b);
    job.Free(c);
    job.Free(job.Allocate(5, 60 * kMiB));
    job.EndStep();
  }
  const std::vector<ReportPeakWithout> without = job.Find().devices[0].peak_set.without;
  ASSERT_EQ(without.size(), 3u);
  EXPECT_EQ(without[0].peak, 80 * kMiB);
  EXPECT_EQ(without[1].peak, 70 * kMiB) << "the second peak binds: 10 + 60";
  EXPECT_EQ(without[2].peak, 70 * kMiB);
  EXPECT_EQ(without[2].sites.size(), 3u);
}

TEST(Peaks, AgesAndSizesAddUp) {
  for (const bool steps : {true, false}) {
    Job job;
    std::mt19937 random(1);
    std::vector<JobObject> live;
    for (int step = 0; step < 60; ++step) {
      for (int i = 0; i < 40; ++i) {
        if (random() % 2 == 0 && !live.empty()) {
          std::swap(live[random() % live.size()], live.back());
          job.Free(live.back());
          live.pop_back();
          continue;
        }
        live.push_back(job.Allocate(1 + random() % 30, 1 + random() % (1 << 20),
                                    random() % 4 == 0 ? schema::PINNED : schema::DEVICE));
      }
      // Memory that is still mapped after its handle is gone.
      if (step == 30) job.Free(job.Map(40, uint64_t{1} << 44, 64 * kMiB).memory);
      if (steps) job.EndStep();
    }
    const ProcessFindings findings = job.Find();
    const ReportPeakSet& set = findings.devices[0].peak_set;
    uint64_t ages = 0, sizes = 0, objects_by_age = 0, objects_by_size = 0;
    for (const ReportPeakShare& age : set.ages) ages += age.bytes, objects_by_age += age.objects;
    for (const ReportSizeClass& size : set.sizes) sizes += size.bytes, objects_by_size += size.objects;
    EXPECT_EQ(sizes, findings.devices[0].peak.live);
    if (steps) {
      EXPECT_EQ(ages, findings.devices[0].peak.live);
      EXPECT_EQ(objects_by_age, objects_by_size);
    }
  }
}

TEST(OutOfMemory, SaysWhatHasChangedAtTheSamePointOfTheStepBefore) {
  Job job;
  job.Allocate(1, 100 * kMiB);
  std::vector<JobObject> leaked;
  const auto step = [&](uint64_t scale, bool fails) {
    const JobObject first = job.Allocate(2, scale * 10 * kMiB);
    const JobObject second = job.Allocate(3, scale * 20 * kMiB);
    if (fails) {
      job.Fail(4, 900 * kMiB);
      return;
    }
    const JobObject third = job.Allocate(4, 5 * kMiB);
    job.Free(first);
    job.Free(second);
    job.Free(third);
    job.Allocate(5, kMiB);  // a leak
    job.EndStep();
  };
  for (int i = 0; i < 30; ++i) step(1, false);
  step(2, true);
  const ProcessFindings findings = job.Find();
  ASSERT_EQ(findings.oom.size(), 1u);
  const ReportOom& oom = findings.oom[0];
  EXPECT_EQ(oom.compared_step, 29);
  EXPECT_TRUE(oom.same_point);
  std::map<uint64_t, ReportSiteIndex> grown;
  for (const ReportOom::Change& change : oom.changes) {
    EXPECT_GT(change.now, change.then);
    grown[change.now - change.then] = change.site;
  }
  ASSERT_EQ(grown.size(), 3u);
  EXPECT_EQ(grown.count(kMiB), 1u) << "the leak, by one step's share";
  EXPECT_EQ(oom.changes[0].now, 40 * kMiB) << "what grew most comes first";
  EXPECT_EQ(oom.now - oom.then, 31 * kMiB);
  ASSERT_TRUE(oom.size_ratio.has_value());
  EXPECT_DOUBLE_EQ(*oom.size_ratio, 2);
  EXPECT_EQ(oom.size_change, SizeChange::kLarger);
  uint64_t held = 0;
  for (const auto& [name, bytes] : oom.categories) held += bytes;
  EXPECT_EQ(held, 100 * kMiB + 60 * kMiB + 30 * kMiB);
}

TEST(OutOfMemory, APlaceThatHasNeverAskedBeforeIsComparedWithThePeak) {
  Job job;
  job.Allocate(1, 100 * kMiB);
  for (int i = 0; i < 30; ++i) {
    job.Free(job.Allocate(2, 10 * kMiB));
    job.EndStep();
  }
  job.Allocate(2, 10 * kMiB);
  job.Allocate(3, 50 * kMiB);
  job.Fail(4, 900 * kMiB);
  const ProcessFindings findings = job.Find();
  ASSERT_EQ(findings.oom.size(), 1u);
  EXPECT_FALSE(findings.oom[0].same_point);
  ASSERT_EQ(findings.oom[0].changes.size(), 1u);
  EXPECT_EQ(findings.oom[0].changes[0].then, 0u);
  EXPECT_EQ(findings.oom[0].changes[0].now, 50 * kMiB);
  EXPECT_FALSE(findings.oom[0].size_ratio.has_value()) << "most of the step's bytes are of a place that is new";
  EXPECT_EQ(findings.oom[0].size_change, std::nullopt);
}

TEST(OutOfMemory, WithoutStepsThereIsNothingToCompareWith) {
  Job job;
  job.Allocate(1, 100 * kMiB);
  job.Fail(4, 950 * kMiB);
  const ProcessFindings findings = job.Find();
  ASSERT_EQ(findings.oom.size(), 1u);
  EXPECT_FALSE(findings.oom[0].compared_step.has_value());
  EXPECT_TRUE(findings.oom[0].changes.empty());
}

}  // namespace
}  // namespace vramtrack
