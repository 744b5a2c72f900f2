// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// Works on device 1; a thread asks device 0 for its free memory, which makes a context there.
ProcessFindings FindContexts(uint64_t used_on_zero, uint64_t allocated_on_zero) {
  JobBuilder job;
  job.trace().DefineThread(5, 99, "watchdog");
  job.OnDevice(1);
  job.Allocate(1, 0, schema::CONTEXT);
  job.Allocate(2, 1000 * kMiB);
  job.EndStep();
  job.OfThread(5);
  job.OnDevice(0);
  job.Allocate(3, 0, schema::CONTEXT);
  if (allocated_on_zero > 0) job.Allocate(4, allocated_on_zero);
  if (used_on_zero > 0) job.Event(schema::MEMORY_INFO, schema::KIND_NONE, 0, {4000 * kMiB - used_on_zero, 4000 * kMiB});
  return FindInJob(&job);
}

TEST(ContextFindings, AContextOnADeviceWithoutWorkComesFirst) {
  const ProcessFindings findings = FindContexts(500 * kMiB, 0);
  ASSERT_EQ(findings.process.contexts.size(), 2u);
  const ReportContext &first = findings.process.contexts[0], &second = findings.process.contexts[1];
  EXPECT_TRUE(first.idle);
  EXPECT_EQ(first.device, 0u);
  EXPECT_EQ(first.thread, "watchdog");
  EXPECT_EQ(first.made, 1u);
  EXPECT_EQ(first.live, 1u);
  EXPECT_EQ(first.at_most_bytes, 500 * kMiB);
  EXPECT_FALSE(first.frames.empty());
  EXPECT_FALSE(second.idle);
  EXPECT_EQ(second.device, 1u);
  EXPECT_EQ(second.at_most_bytes, std::nullopt);
}

TEST(ContextFindings, WhereTheProcessWorksAsWellItIsNotIdle) {
  const ProcessFindings findings = FindContexts(0, 100 * kMiB);
  for (const ReportContext& context : findings.process.contexts) EXPECT_FALSE(context.idle);
}

TEST(ContextFindings, OnesThatAreMadeInALoopAreOne) {
  JobBuilder job;
  job.Allocate(2, kMiB);
  for (int i = 0; i < 1000; ++i) job.Free(job.Allocate(1, 0, schema::CONTEXT));
  const ProcessFindings findings = FindInJob(&job);
  ASSERT_EQ(findings.process.contexts.size(), 1u);
  EXPECT_EQ(findings.process.contexts[0].made, 1000u);
  EXPECT_EQ(findings.process.contexts[0].live, 0u);
}

}  // namespace
}  // namespace vramtrack
