// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/step_plan.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "analyzer/ingest/testing/test_trace.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

int Leaks(const Trace& trace) {
  AnalyzeOptions options;
  const ProcessAnalysis analysis(trace, options);
  int leaks = 0;
  for (const SiteVerdict& verdict : analysis.verdicts()) leaks += IsLeak(verdict.verdict);
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

// Both go through their batches alike, so the allocations have one period. The optimizer knows where the training ends.
TEST(PlanSteps, AnEvaluationAfterAShortTrainingIsAPhase) {
  JobBuilder program;
  program.trace().DefineName(0, 1, "Optimizer.step#SGD.step");
  program.trace().DefineName(0, 2, "batch");
  const auto pass = [&](uint32_t sites) {
    program.Mark(schema::MARK_RECORD_FUNCTION, 1, 2);
    std::vector<JobObject> objects;
    for (uint32_t site = 1; site <= sites; ++site) objects.push_back(program.Allocate(site, kMiB));
    for (const JobObject& object : objects) program.Free(object);
  };
  for (int step = 0; step < 30; ++step) {
    pass(24);
    program.Mark(schema::MARK_RECORD_FUNCTION, 40, 1);
  }
  for (int batch = 0; batch < 300; ++batch) {
    pass(8);
    program.Allocate(50, kMiB);  // a result
  }
  const TestTrace trace(program.Finish());
  const StepPlan plan = PlanSteps(*trace);
  ASSERT_EQ(plan.phases.size(), 2u) << static_cast<int>(plan.source);
  EXPECT_EQ(plan.phases[0].source, StepSource::kOptimizer);
  EXPECT_EQ(Leaks(*trace), 0);
}

// Names as JAX 0.11 pushes them on an H100.
TEST(PlanSteps, WhatAFunctionOfXlaRunsIsNoStep) {
  JobBuilder program;
  program.trace().DefineName(0, 1, "TSL:Thunk:#hlo_op=command_buffer_##");
  for (int step = 0; step < 60; ++step) {
    program.Mark(schema::MARK_RANGE_PUSH, 1, 1);
    std::vector<JobObject> objects;
    for (int i = 0; i < 4; ++i) objects.push_back(program.Allocate(2, kMiB));
    for (const JobObject& object : objects) program.Free(object);
    program.Mark(schema::MARK_RANGE_POP, 1, 1);
  }
  const TestTrace trace(program.Finish());
  EXPECT_NE(PlanSteps(*trace).source, StepSource::kNvtx);
}

// A model of some hundred layers is read, and that is all.
TEST(PlanSteps, ALoopThatOnlyTakesIsSetUp) {
  for (const uint32_t lines : {1, 2, 3, 9}) {
    JobBuilder program;
    for (int layer = 0; layer < 400; ++layer) {
      for (uint32_t line = 1; line <= lines; ++line) program.Allocate(line, kMiB);
    }
    const TestTrace trace(program.Finish());
    const StepPlan plan = PlanSteps(*trace);
    EXPECT_TRUE(!plan.has_steps() || plan.rough) << lines << " lines";
    EXPECT_EQ(Leaks(*trace), 0) << lines << " lines";
  }
}

// As IPython's shell runs them. The first defines what the others call.
TEST(PlanSteps, CellsOfANotebookAreSteps) {
  JobBuilder program;
  for (int cell = 1; cell <= 60; ++cell) {
    const std::string file = "<ipython-input-" + std::to_string(cell) + "-0a1b2c3d4e5f>";
    const std::vector<PythonLine> shell = {{"<module>", 2, file.c_str()},
                                           {"InteractiveShell.run_code", 3550, "/lib/IPython/core/interactiveshell.py"},
                                           {"main", 1}};
    std::vector<PythonLine> called = shell;
    called.insert(called.begin(), {"embed", 9, "<ipython-input-1-0a1b2c3d4e5f>"});
    const JobObject input = program.Allocate(program.Python(called), kMiB);
    program.Allocate(program.Python(called), kMiB);
    program.Free(input);
  }
  const TestTrace trace(program.Finish());
  const StepPlan plan = PlanSteps(*trace);
  EXPECT_EQ(plan.source, StepSource::kCells);
  EXPECT_EQ(plan.cuts.size(), 59u);
  EXPECT_FALSE(plan.windows);
}

}  // namespace
}  // namespace vramtrack
