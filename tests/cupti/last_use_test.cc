// SPDX-License-Identifier: Apache-2.0
//
// What the report makes of records of kernels, copies and fills, end to end on the simulated CUPTI.
#include <gtest/gtest.h>

#include <string>

#include "analyzer/pipeline/analyze.h"
#include "tests/cupti/simulated_cupti.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr int kSteps = 60;

// hidden_leak, whose library leaks in each step, with these records and in the manner of `how`.
Report RunHiddenLeak(const std::string& records, const std::string& how) {
  RunOptions options;
  options.environment["VRAMTRACK_CUPTI"] = "1";
  options.environment["VRAMTRACK_CUPTI_RECORDS"] = records;
  options.environment["LD_LIBRARY_PATH"] = SimulatedLibraries(13);
  const RunResult run = RunProgram("hidden_leak", {std::to_string(kSteps), "2097152", how}, options);
  EXPECT_EQ(run.out, "done\n");
  absl::StatusOr<Report> report = Analyze(run.traces, {});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

TEST(LastUse, IsKnownOfWhatTheDeviceRestedAfter) {
  const Report report = RunHiddenLeak("memory,pools,kernels,copies,fills", "rests");
  ASSERT_EQ(report.ranking.size(), 1u);
  const ReportSite& leak = report.sites[0];
  ASSERT_TRUE(leak.last_use);
  EXPECT_EQ(leak.last_use->objects, static_cast<uint64_t>(kSteps));
  EXPECT_GT(leak.last_use->idle_s, 0);
  EXPECT_FALSE(leak.first_kernel);
}

TEST(LastUse, IsNotSaidWithoutRecordsOfAllThatUsesMemory) {
  for (const char* records : {"memory,pools", "memory,pools,kernels"}) {
    const Report report = RunHiddenLeak(records, "rests");
    ASSERT_EQ(report.ranking.size(), 1u);
    EXPECT_FALSE(report.sites[0].last_use) << records;
  }
}

}  // namespace
}  // namespace vramtrack
