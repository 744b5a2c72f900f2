// SPDX-License-Identifier: Apache-2.0
//
// Advice on settings of PyTorch's allocator, from trials of what the job asked it for.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint32_t kSizes = 40;

// A job whose inputs get larger for `kSizes` steps, and then `steps` with inputs of the last size. Each size takes a
// segment of its own, and the segments before stay reserved.
std::vector<std::pair<std::string, uint64_t>> AdviceAfter(uint32_t steps) {
  JobBuilder job({}, 100);
  job.Device(uint64_t{80} << 30);
  uint64_t input = 0;
  const auto step = [&](uint64_t bytes) {
    for (int i = 0; i < 4; ++i) job.Free(job.BlockAt(1, input, bytes));
    job.Pass(1000);
    job.EndStep();
  };
  for (uint32_t i = 0; i < kSizes; ++i) {
    const uint64_t bytes = (20 + 2 * i) * kMiB;
    job.Gap(64 * kMiB);
    input = job.Allocate(2 + i, bytes).address;
    step(bytes);
  }
  for (uint32_t i = 0; i < steps; ++i) step((20 + 2 * (kSizes - 1)) * kMiB);
  const ProcessFindings findings = FindInJob(&job);
  EXPECT_EQ(findings.devices.size(), 1u);
  std::vector<std::pair<std::string, uint64_t>> advice;
  for (const auto& one : findings.devices[0].fragmentation.advice) advice.push_back({one.text, one.saved_bytes});
  return advice;
}

TEST(SegmentFindings, StepsThatRepeatDoNotChangeTheAdvice) {
  const auto after_few = AdviceAfter(100);
  EXPECT_FALSE(after_few.empty());
  // These steps allocate more than SegmentLayout::kSettledBlocks blocks, so the trials do not see the last of them.
  EXPECT_EQ(AdviceAfter(30'000), after_few);
}

}  // namespace
}  // namespace vramtrack
