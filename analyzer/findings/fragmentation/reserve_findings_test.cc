// SPDX-License-Identifier: Apache-2.0
//
// Jobs of a framework whose allocator takes segments, each time from another place of the program.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "analyzer/findings/testing/find_in_job.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20, kKiB = 1 << 10;
constexpr uint64_t kSegment = 20 * kMiB;
constexpr uint32_t kSteps = 120, kPlaces = 60;
enum Stack : uint32_t { kWeights = 1, kActivation, kKept, kFirstPlace };

class Job : public JobBuilder {
 public:
  Job() : JobBuilder({}, 100) {
    Device(uint64_t{80} << 30);
    weights_ = Segment(kFirstPlace, 400 * kMiB);
    BlockAt(kWeights, weights_, 300 * kMiB);
  }

  // The address. Segments do not touch.
  uint64_t Segment(uint32_t place, uint64_t bytes) {
    Gap(64 * kMiB);
    return Allocate(place, bytes).address;
  }

  // A step beside which `other` happens.
  void Step(const std::function<void()>& other) {
    const JobObject activation = BlockAt(kActivation, weights_ + 300 * kMiB, 50 * kMiB);
    other();
    Free(activation);
    Pass(1000);
    EndStep();
  }
  uint32_t NextPlace() const { return kFirstPlace + step() % kPlaces; }

  ReportFragmentation Analysed() {
    const ProcessFindings findings = FindInJob(this);
    EXPECT_EQ(findings.devices.size(), 1u);
    for (const ReportSite& site : findings.sites) {
      if (site.category == "segment") {
        EXPECT_NE(site.verdict, Verdict::kFragmentationGrowth) << "no single site should show it";
      }
    }
    return findings.devices[0].fragmentation;
  }

 private:
  uint64_t weights_ = 0;
};

TEST(ReserveFindings, SegmentsOfManyStacksAreOneFinding) {
  Job job;
  for (uint32_t i = 0; i < kSteps; ++i) {
    job.Step([&] { job.Free(job.BlockAt(kActivation, job.Segment(job.NextPlace(), kSegment), 19 * kMiB)); });
  }
  const ReportFragmentation fragmentation = job.Analysed();
  ASSERT_TRUE(fragmentation.growth);
  const ReportReserveGrowth& growth = *fragmentation.growth;
  EXPECT_NEAR(growth.bytes_per_step, kSegment, .01 * kSegment);
  EXPECT_LE(growth.ci_low, growth.bytes_per_step);
  EXPECT_GE(growth.ci_high, growth.bytes_per_step);
  EXPECT_EQ(growth.stacks, kPlaces);
  ASSERT_EQ(growth.sizes.size(), 1u);
  EXPECT_EQ(growth.sizes[0].segment_bytes, kSegment);
  EXPECT_EQ(growth.sizes[0].sizes, BlockSizeClass::kLarge);
  EXPECT_EQ(growth.sizes[0].segments, growth.segments);
  EXPECT_EQ(growth.bytes, growth.segments * kSegment);
  EXPECT_EQ(growth.segments, kSteps - *growth.first_step);
  EXPECT_EQ(growth.free_releasable, growth.bytes) << "nothing lies in them";
  EXPECT_TRUE(growth.pins.empty());
  // Each was passed over for the next ones.
  EXPECT_GT(growth.pools, 10u);
  EXPECT_NE(growth.explanation.find("hold nothing"), std::string::npos) << growth.explanation;
}

TEST(ReserveFindings, WhatKeepsTheNewSegmentsIsNamed) {
  Job job;
  for (uint32_t i = 0; i < kSteps; ++i) {
    job.Step([&] {
      const uint64_t segment = job.Segment(job.NextPlace(), kSegment);
      const JobObject activation = job.BlockAt(kActivation, segment, 19 * kMiB);
      job.BlockAt(kKept, segment + 19 * kMiB, 4 * kKiB);
      job.Free(activation);
    });
  }
  const ReportFragmentation fragmentation = job.Analysed();
  ASSERT_TRUE(fragmentation.growth);
  const ReportReserveGrowth& growth = *fragmentation.growth;
  EXPECT_EQ(growth.free_releasable, 0u);
  ASSERT_EQ(growth.pins.size(), 1u);
  EXPECT_EQ(growth.pins[0].segments, growth.segments);
  EXPECT_EQ(growth.pins[0].bytes, growth.segments * (kSegment - 4 * kKiB));
  ASSERT_FALSE(growth.pins[0].stack.empty());
  EXPECT_EQ(growth.pins[0].stack[0].offset, kKept * 0x100u);
}

TEST(ReserveFindings, SegmentsForALeakAreTheLeaksOwn) {
  Job job;
  for (uint32_t i = 0; i < kSteps; ++i) {
    job.Step([&] { job.BlockAt(kKept, job.Segment(job.NextPlace(), kSegment), 19 * kMiB); });
  }
  EXPECT_FALSE(job.Analysed().growth);
}

TEST(ReserveFindings, NothingGrowsWithoutNewSegments) {
  Job job;
  for (uint32_t i = 0; i < kSteps; ++i) job.Step([] {});
  EXPECT_FALSE(job.Analysed().growth);
}

}  // namespace
}  // namespace vramtrack
