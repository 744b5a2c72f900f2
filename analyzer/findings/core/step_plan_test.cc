// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/step_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/testing/test_trace.h"
#include "proto/job_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

int Leaks(const Trace& trace) {
  AnalyzeOptions options;
  const ProcessAnalysis analysis(trace, options);
  int leaks = 0;
  for (const LeakVerdict& verdict : analysis.verdicts()) leaks += IsLeak(verdict.verdict);
  return leaks;
}

TEST(PlanSteps, ALoopOfThreeLinesHasSteps) {
  JobBuilder program;
  for (int step = 0; step < 60; ++step) {
    const JobObject input = program.Allocate(1, kMiB), output = program.Allocate(2, kMiB);
    program.Allocate(3, kMiB);
    program.Free(output);
    program.Free(input);
  }
  const TestTrace trace(program.Finish());
  EXPECT_EQ(PlanSteps(*trace).source, StepSource::kPeriodicity);
  EXPECT_EQ(Leaks(*trace), 1);
}

// A model of some hundred layers is read, and that is all.
TEST(PlanSteps, ALoopThatOnlyTakesIsSetUp) {
  for (const uint32_t lines : {1, 2, 3, 9}) {
    JobBuilder program;
    for (int layer = 0; layer < 400; ++layer) {
      for (uint32_t line = 1; line <= lines; ++line) program.Allocate(line, kMiB);
    }
    const TestTrace trace(program.Finish());
    EXPECT_FALSE(PlanSteps(*trace).has_steps()) << lines << " lines";
    EXPECT_EQ(Leaks(*trace), 0) << lines << " lines";
  }
}

}  // namespace
}  // namespace vramtrack
