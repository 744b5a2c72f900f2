// SPDX-License-Identifier: Apache-2.0
//
// Jobs of a framework whose allocator takes segments, each time from another place of the program.
#include "analyzer/findings/fragmentation/reserve_findings.h"

#include <gtest/gtest.h>

#include <deque>
#include <functional>
#include <string>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/model/process_findings.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20, kKiB = 1 << 10;
constexpr uint64_t kSegment = 20 * kMiB;
constexpr uint32_t kSteps = 120, kPlaces = 60;
enum Stack : uint32_t { kWeights = 1, kActivation, kKept, kFirstPlace };

class Job {
 public:
  Job() {
    trace_.DefineProcess(0, 4711, {"./job"});
    trace_.DefineDevice(0, 0, "Emulated", uint64_t{80} << 30);
    trace_.DefineModule(0, 1, "/nowhere/job", 0x400000, 0x400000, 0x500000);
    for (uint32_t stack = 1; stack < kFirstPlace + kPlaces; ++stack) {
      trace_.DefineStack(0, stack, {0x400000 + stack * 0x100});
    }
    weights_ = Segment(kFirstPlace, 400 * kMiB);
    Block(kWeights, weights_, 300 * kMiB);
  }

  // The address.
  uint64_t Segment(uint32_t place, uint64_t bytes) {
    const uint64_t address = next_;
    next_ += bytes + 64 * kMiB;
    trace_.Allocate(0, now_ += 100, schema::DEVICE, 0, place, address, bytes);
    return address;
  }
  AllocationId Block(Stack stack, uint64_t address, uint64_t bytes) {
    return trace_.Allocate(0, now_ += 100, schema::FRAMEWORK_BLOCK, 0, stack, address, bytes);
  }
  void Free(AllocationId block) { trace_.Free(0, now_ += 100, schema::FRAMEWORK_BLOCK, 0, block); }

  // A step beside which `other` happens.
  void Step(const std::function<void()>& other) {
    const AllocationId activation = Block(kActivation, weights_ + 300 * kMiB, 50 * kMiB);
    other();
    Free(activation);
    trace_.Step(0, now_ += 1000, steps_++);
  }
  uint32_t NextPlace() const { return kFirstPlace + steps_ % kPlaces; }

  ReportFragmentation Analysed() {
    static std::deque<std::string> files;
    files.push_back(trace_.Finish());
    auto trace = Trace::Read(files.back(), "test");
    EXPECT_TRUE(trace.ok()) << trace.status();
    const ProcessFindings findings = FindInProcess(**trace, {});
    EXPECT_EQ(findings.devices.size(), 1u);
    for (const ReportSite& site : findings.sites) {
      if (site.category == "segment") {
        EXPECT_NE(site.verdict, Verdict::kFragmentationGrowth) << "no single site should show it";
      }
    }
    return findings.devices[0].fragmentation;
  }

 private:
  TraceBuilder trace_;
  uint64_t now_ = 1000, next_ = uint64_t{1} << 40, weights_ = 0, steps_ = 0;
};

TEST(ReserveFindings, SegmentsOfManyStacksAreOneFinding) {
  Job job;
  for (uint32_t i = 0; i < kSteps; ++i) {
    job.Step([&] { job.Free(job.Block(kActivation, job.Segment(job.NextPlace(), kSegment), 19 * kMiB)); });
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
      const AllocationId activation = job.Block(kActivation, segment, 19 * kMiB);
      job.Block(kKept, segment + 19 * kMiB, 4 * kKiB);
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
    job.Step([&] { job.Block(kKept, job.Segment(job.NextPlace(), kSegment), 19 * kMiB); });
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
