// SPDX-License-Identifier: Apache-2.0
//
// How much memory of the host a process has is read at its step marks, and its growth is found.
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/pipeline/analyze.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// What a program says that keeps so many bytes in each of 200 steps.
Report Reported(uint64_t bytes, const char* pairs, const char* cap) {
  RunOptions options;
  if (cap != nullptr) options.environment["VRAMTRACK_MAX_BYTES"] = cap;
  const RunResult run = RunProgram("growing_host", {"200", std::to_string(bytes), pairs}, options);
  EXPECT_EQ(run.wait_status, 0) << run.err;
  EXPECT_EQ(run.traces.size(), 1u);
  if (run.traces.size() != 1) return {};
  if (cap != nullptr) {
    EXPECT_GT(Count(run.traces[0]).generation, 0u);
  }
  absl::StatusOr<Report> report = Analyze({run.traces[0]});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

TEST(HostMemoryTest, GrowthIsFound) {
  const Report report = Reported(kMiB, "1", nullptr);
  ASSERT_TRUE(report.host);
  EXPECT_GE(report.host->readings, 30u);
  EXPECT_GE(report.host->resident.last, 150 * kMiB);
  ASSERT_TRUE(report.host->resident.grows()) << report.host->resident.growth->refused;
  EXPECT_NEAR(report.host->resident.growth->bytes_per_step, kMiB, kMiB / 20);
}

TEST(HostMemoryTest, GrowthIsFoundInATraceOfBoundedSize) {
  const Report report = Reported(kMiB, "1000", "704K");
  ASSERT_TRUE(report.host);
  ASSERT_TRUE(report.host->resident.grows()) << report.host->resident.growth->refused;
  EXPECT_NEAR(report.host->resident.growth->bytes_per_step, kMiB, kMiB / 20);
}

TEST(HostMemoryTest, AProgramThatKeepsNothingDoesNotGrow) {
  const Report report = Reported(0, "1", nullptr);
  ASSERT_TRUE(report.host);
  EXPECT_FALSE(report.host->resident.grows());
}

TEST(HostMemoryTest, ProcessesInTurnOnACardAreSideBySide) {
  std::vector<std::string> traces;
  for (int i = 0; i < 2; ++i) {
    const RunResult run = RunProgram("growing_host", {"20", "0", "1"});
    ASSERT_EQ(run.wait_status, 0) << run.err;
    ASSERT_EQ(run.traces.size(), 1u);
    traces.push_back(run.traces[0]);
  }
  const absl::StatusOr<Report> report = Analyze(traces);
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->cards.size(), 1u);
  const ReportCard& card = report->cards[0];
  EXPECT_EQ(card.uuid.substr(0, 4), "GPU-");
  ASSERT_EQ(card.processes.size(), 2u);
  EXPECT_GE(card.most, 8 * kMiB);
  EXPECT_LT(card.most, 9 * kMiB);  // never at the same time
  EXPECT_GE(card.processes[1].began_s, card.processes[0].ended_s);
  EXPECT_TRUE(card.others);
}

}  // namespace
}  // namespace vramtrack
