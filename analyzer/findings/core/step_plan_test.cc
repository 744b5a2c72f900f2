// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/step_plan.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "analyzer/findings/core/process_analysis.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;

// A program of one thread that allocates at one stack after the other.
class Program {
 public:
  AllocationId Allocate(uint32_t stack, uint64_t bytes = kMiB) {
    if (stack >= defined_.size()) defined_.resize(stack + 1);
    if (!defined_[stack]) trace_.DefineStack(0, stack, {0x1000 + 16 * stack, 0x9000});
    defined_[stack] = true;
    address_ += bytes;
    return trace_.Allocate(0, ++now_, schema::DEVICE, 0, stack, address_, bytes);
  }
  void Free(AllocationId allocation) { trace_.Free(0, ++now_, schema::DEVICE, 0, allocation); }
  // To be called once; it must outlive what it returns.
  std::unique_ptr<Trace> Read() { return *Trace::Read(bytes_ = trace_.Finish(), "test"); }

 private:
  TraceBuilder trace_;
  std::string bytes_;
  std::vector<bool> defined_;
  uint64_t now_ = 0, address_ = uint64_t{1} << 40;
};

int Leaks(const Trace& trace) {
  AnalyzeOptions options;
  const ProcessAnalysis analysis(trace, options);
  int leaks = 0;
  for (const LeakVerdict& verdict : analysis.verdicts()) leaks += IsLeak(verdict.verdict);
  return leaks;
}

TEST(PlanSteps, ALoopOfThreeLinesHasSteps) {
  Program program;
  for (int step = 0; step < 60; ++step) {
    const AllocationId input = program.Allocate(1), output = program.Allocate(2);
    program.Allocate(3);
    program.Free(output);
    program.Free(input);
  }
  const auto trace = program.Read();
  EXPECT_EQ(PlanSteps(*trace).source, StepSource::kPeriodicity);
  EXPECT_EQ(Leaks(*trace), 1);
}

// A model of some hundred layers is read, and that is all.
TEST(PlanSteps, ALoopThatOnlyTakesIsSetUp) {
  for (const uint32_t lines : {1, 2, 3, 9}) {
    Program program;
    for (int layer = 0; layer < 400; ++layer) {
      for (uint32_t line = 1; line <= lines; ++line) program.Allocate(line);
    }
    const auto trace = program.Read();
    EXPECT_FALSE(PlanSteps(*trace).has_steps()) << lines << " lines";
    EXPECT_EQ(Leaks(*trace), 0) << lines << " lines";
  }
}

}  // namespace
}  // namespace vramtrack
