// SPDX-License-Identifier: Apache-2.0
//
// The report says by which name a process is known, and that it shares its devices.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/pipeline/analyze.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

Report Reported(const std::vector<std::string>& arguments, const RunOptions& options = {}) {
  const RunResult run = RunProgram("renamed", arguments, options);
  EXPECT_EQ(run.wait_status, 0) << run.err;
  EXPECT_EQ(run.traces.size(), 1u);
  if (run.traces.size() != 1) return {};
  absl::StatusOr<Report> report = Analyze({run.traces[0]});
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

TEST(ProcessNameTest, ANameThatTheProgramGaveItselfIsNoListOfEmptyArguments) {
  const Report report = Reported({"ray::Trainer.step", "--of=default_worker.py", ""});
  ASSERT_EQ(report.processes.size(), 1u);
  EXPECT_EQ(report.processes[0].command, std::vector<std::string>{"ray::Trainer.step"});
  EXPECT_EQ(report.warnings, std::vector<std::string>{});
}

// The only warning, without the trace's path.
std::string Warning(const Report& report) {
  if (report.warnings.size() != 1) return std::to_string(report.warnings.size()) + " warnings";
  return report.warnings[0].substr(report.warnings[0].find(": ") + 2);
}

TEST(ProcessNameTest, MpsIsNamed) {
  RunOptions options;
  options.environment["CUDA_MPS_PIPE_DIRECTORY"] = "/run/mps";
  EXPECT_EQ(Warning(Reported({"a", "b"}, options)),
            "the process uses its devices through MPS (CUDA_MPS_PIPE_DIRECTORY=/run/mps)");
  options.environment["CUDA_MPS_PINNED_DEVICE_MEM_LIMIT"] = "0=10G";
  EXPECT_EQ(Warning(Reported({"a", "b"}, options)),
            "the process uses its devices through MPS (CUDA_MPS_PIPE_DIRECTORY=/run/mps), which limits its memory on a "
            "device (CUDA_MPS_PINNED_DEVICE_MEM_LIMIT=0=10G)");
}

}  // namespace
}  // namespace vramtrack
