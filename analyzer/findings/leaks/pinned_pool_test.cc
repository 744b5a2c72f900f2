// SPDX-License-Identifier: Apache-2.0
//
// Leaks of PyTorch's pinned memory. Of some releases each block is seen, of others only what the pool takes from CUDA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

using testing::HasSubstr;

constexpr uint64_t kBlock = 1 << 18;
constexpr int kSteps = 60;
const PythonLine kLoad = {"train.py", 7, "load"}, kOther = {"train.py", 9, "other"};

BuiltProcess OfTorch() {
  BuiltProcess process;
  process.program = "/site-packages/torch/lib/libtorch_cuda.so";
  return process;
}

const ReportSite& LeakOf(const ProcessFindings& findings) {
  for (const ReportSite& site : findings.sites) {
    if (IsLeak(site) && site.part_of.is_none()) return site;
  }
  ADD_FAILURE() << "no leak";
  static const ReportSite none;
  return none;
}

bool HasLine(const ReportSite& site, uint32_t line) {
  for (const ReportFrame& frame : site.frames) {
    if (frame.language == Language::kPython && frame.line == line) return true;
  }
  return false;
}

TEST(PinnedPool, BlocksHaveTheLineThatKeepsThem) {
  JobBuilder job(OfTorch());
  job.DefinePython(1, {kLoad}, 11);
  job.DefinePython(2, {kOther}, 12);
  for (int step = 0; step < kSteps; ++step) {
    // The line that makes the pool grow keeps nothing: the other one takes what it leaves.
    const JobObject segment = job.Allocate(2, kBlock, schema::PINNED);
    const JobObject borrowed = job.AllocateAt(2, segment.address, kBlock, schema::PINNED_BLOCK);
    job.Free(borrowed);
    job.AllocateAt(1, segment.address, kBlock, schema::PINNED_BLOCK);
    job.EndStep();
  }
  const ProcessFindings findings = FindInJob(&job);
  const ReportSite& leak = LeakOf(findings);
  EXPECT_EQ(leak.kind, "pinned_block");
  EXPECT_EQ(leak.device, std::nullopt);
  EXPECT_DOUBLE_EQ(leak.rate_bytes_per_step, kBlock);
  EXPECT_TRUE(HasLine(leak, 7));
  // What the blocks hold is not counted again as the pool's.
  ASSERT_TRUE(findings.pinned_growth);
  const ReportGrowthLedger& grown = *findings.pinned_growth;
  EXPECT_EQ(grown.grown, static_cast<int64_t>(grown.steps * kBlock));
  ASSERT_EQ(grown.lines.size(), 1u);
  size_t leaks = 0;
  for (const ReportSite& site : findings.sites) leaks += IsLeak(site);
  EXPECT_EQ(leaks, 1u);
}

ProcessFindings PoolGrowsFor(const std::vector<PythonLine>& lines) {
  JobBuilder job(OfTorch());
  for (uint32_t i = 0; i < lines.size(); ++i) job.DefinePython(i + 1, {lines[i]}, 11 + i);
  for (uint32_t step = 0; step < kSteps; ++step) {
    job.Allocate(1 + step % static_cast<uint32_t>(lines.size()), kBlock, schema::PINNED);
    job.EndStep();
  }
  return FindInJob(&job);
}

TEST(PinnedPool, WithoutBlocksTheHeadlineIsTheLineForWhichThePoolGrewIfItIsOne) {
  const ProcessFindings findings = PoolGrowsFor({kLoad});
  const ReportSite& leak = LeakOf(findings);
  ASSERT_LT(leak.blame_frame, leak.frames.size());
  EXPECT_EQ(leak.frames[leak.blame_frame].line, 7u);
  EXPECT_THAT(leak.explanation, HasSubstr("another line may keep"));
}

TEST(PinnedPool, WithoutBlocksSeveralLinesAreNamedAsSuchAlone) {
  const ProcessFindings findings = PoolGrowsFor({kLoad, kOther});
  const ReportSite& leak = LeakOf(findings);
  EXPECT_FALSE(HasLine(leak, 7));
  EXPECT_FALSE(HasLine(leak, 9));
  EXPECT_THAT(leak.explanation, HasSubstr("30 of 60 times the pool grew"));
}

}  // namespace
}  // namespace vramtrack
