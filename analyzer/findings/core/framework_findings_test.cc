// SPDX-License-Identifier: Apache-2.0
//
// What is found in the trace of a training job whose framework has an allocator of its own: where its steps end, what
// its memory is for, and which of the two levels a leak is told of.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"
#include "analyzer/model/process_findings.h"

namespace vramtrack {
namespace {

using schema::DEVICE;
using schema::FRAMEWORK_BLOCK;

constexpr uint64_t kMiB = 1 << 20, kKiB = 1 << 10;

enum Stack : uint32_t {
  kParameters = 11,
  kForward,
  kBackward,
  kAccumulate,
  kState,
  kOptimizerTemporary,
  kStepMark,
  kOtherStepMark,
  kLeak,
  kBatch,
  kSegment,
  kWorkspaceLike,
  kCritic,
  kClosureForward,
  kZeroGradMark,
};

constexpr PythonLine kMain = {"main", 10}, kTrain = {"train", 20}, kTrainCritic = {"train_critic", 90};
constexpr PythonLine kWrapper = {"Optimizer.profile_hook_step.<locals>.wrapper", 480, "/x/torch/optim/optimizer.py"};
constexpr PythonLine kStep = {"AdamW.step", 210, "/x/torch/optim/adamw.py"};
constexpr PythonLine kLinear = {"Linear.forward", 130, "/x/torch/nn/modules/linear.py"};

// Trains. Python stacks are those that PyTorch 2.x has.
class Trainer : public JobBuilder {
 public:
  Trainer() : JobBuilder({{"python", "train.py"}}, 100) {
    Device(uint64_t{80} << 30);
    DefinePython(kParameters, {{"Module.to", 1300, "/x/torch/nn/modules/module.py"}, kMain});
    DefinePython(kForward, {kLinear, kTrain, kMain});
    DefinePython(kState, {{"AdamW._init_group", 100, "/x/torch/optim/adamw.py"}, kStep, kWrapper, kTrain, kMain});
    DefinePython(kOptimizerTemporary, {kStep, kWrapper, kTrain, kMain});
    DefinePython(kStepMark, {kWrapper, kTrain, kMain});
    DefinePython(kOtherStepMark, {kWrapper, kMain});
    DefinePython(kCritic, {kWrapper, kTrainCritic, kMain});
    const PythonLine closure = {"Closure.__call__", 130, "/x/site-packages/lightning/loops/automatic.py"};
    const PythonLine zero_grad = {"Optimizer.zero_grad", 1000, "/x/torch/optim/optimizer.py"};
    DefinePython(kClosureForward, {kLinear, closure, kStep, kWrapper, kTrain, kMain});
    DefinePython(kZeroGradMark, {zero_grad, closure, kStep, kWrapper, kTrain, kMain});
    DefinePython(kLeak, {{"keep_outputs", 60}, kTrain, kMain});
    const PythonLine loader = {"_MultiProcessingDataLoaderIter._next_data", 900, "/x/torch/utils/data/dataloader.py"};
    DefinePython(kBatch, {loader, kTrain, kMain});
    DefinePython(kSegment, {kLinear, kTrain, kMain});
    DefineGraph(kBackward, schema::NODE_FUNCTION, {kLinear, kTrain});
    DefineGraph(kAccumulate, schema::NODE_ACCUMULATE, {});
    Segment(64 * kMiB);
  }

  void Segment(uint64_t bytes) {
    Gap(64 * kMiB);
    next_ = Allocate(kSegment, bytes).address;
    end_ = next_ + bytes;
  }
  // Blocks are never cut from freed ones here; what is freed is a hole.
  JobObject Block(Stack stack, uint64_t bytes) {
    if (next_ + bytes > end_) Segment(std::max(bytes, 20 * kMiB));
    next_ += bytes;
    return BlockAt(stack, next_ - bytes, bytes);
  }

  void Prepare() {
    place_ = next_;
    next_ += 16 * kMiB;
    for (int i = 0; i < 4; ++i) Block(kParameters, 512 * kKiB);
  }

  // One step: forward, backward, optimizer. The gradient lives on until the next step. `marks`: whether the optimizer
  // tells of itself.
  void Step(int step, bool marks, const std::function<void()>& after_forward = nullptr) {
    if (step > 0) Free(gradient_);
    const JobObject batch = BlockAt(kBatch, place_, kMiB);
    const JobObject activation = BlockAt(kForward, place_ + kMiB, 2 * kMiB);
    if (after_forward) after_forward();
    const JobObject temporary = BlockAt(kBackward, place_ + 3 * kMiB, 2 * kMiB);
    gradient_ = BlockAt(kAccumulate, place_ + 5 * kMiB, kMiB);
    Free(temporary);
    Free(activation);
    Free(batch);
    if (marks) Mark(schema::MARK_RECORD_FUNCTION, kStepMark);
    if (step == 0) Block(kState, 3 * kMiB);
    Free(BlockAt(kOptimizerTemporary, place_ + 6 * kMiB, 64 * kKiB));
  }

  ProcessFindings Find(const AnalyzeOptions& options = {}) { return FindInJob(this, options); }

 private:
  JobObject gradient_;
  uint64_t next_ = 0, end_ = 0, place_ = 0;
};

const ReportSite* SiteOf(const ProcessFindings& findings, const std::string& function, Level level) {
  for (const ReportSite& site : findings.sites) {
    if (site.level != level) continue;
    for (const ReportFrame& frame : site.frames) {
      if (frame.function == function) return &site;
    }
  }
  return nullptr;
}

std::string CategoryOfFirst(const ProcessFindings& findings, const std::string& function) {
  const ReportSite* site = SiteOf(findings, function, Level::kFramework);
  return site == nullptr ? "none" : site->category;
}

TEST(FrameworkFindings, StepsEndAtTheOptimizersMarks) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 50; ++i) job.Step(i, /*marks=*/true);
  const ProcessFindings findings = job.Find();
  EXPECT_EQ(findings.steps.source, StepSource::kOptimizer);
  EXPECT_EQ(findings.steps.count, 50u);
  EXPECT_GT(findings.steps.confidence, 0.9);
}

TEST(FrameworkFindings, StepsEndWhereAnOptimizerAllocatesIfItDoesNotTell) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 50; ++i) job.Step(i, /*marks=*/false);
  const ProcessFindings findings = job.Find();
  EXPECT_EQ(findings.steps.source, StepSource::kOptimizer);
  EXPECT_EQ(findings.steps.count, 50u);
}

TEST(FrameworkFindings, TwoOptimizersOfOneStepMakeOneStep) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 40; ++i) {
    // The critic takes five steps for one of the generator's.
    for (int j = 0; j < 5; ++j) {
      job.Free(job.Block(kForward, kMiB));
      job.Mark(schema::MARK_RECORD_FUNCTION, kCritic);
    }
    job.Step(i, /*marks=*/true);
  }
  EXPECT_EQ(job.Find().steps.count, 40u);
}

TEST(FrameworkFindings, OptimizersCalledInTurnAtOnePlaceMakeOneStep) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 40; ++i) {
    job.Step(i, /*marks=*/true);
    job.Mark(schema::MARK_RECORD_FUNCTION, kStepMark);
    job.Mark(schema::MARK_RECORD_FUNCTION, kStepMark);
  }
  EXPECT_EQ(job.Find().steps.count, 40u);
}

// As Lightning does it: the optimizer's step calls the forward pass, zero_grad() and the backward pass.
TEST(FrameworkFindings, AStepWithAClosureThatCallsZeroGradIsOneStep) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 40; ++i) {
    job.Mark(schema::MARK_RECORD_FUNCTION, kStepMark);
    for (int layer = 0; layer < 10; ++layer) job.Free(job.Block(kClosureForward, kMiB));
    job.Mark(schema::MARK_RECORD_FUNCTION, kZeroGradMark);
    job.Step(i, /*marks=*/false);
  }
  const ProcessFindings findings = job.Find();
  EXPECT_EQ(findings.steps.source, StepSource::kOptimizer);
  EXPECT_EQ(findings.steps.count, 40u);
}

TEST(FrameworkFindings, RangesOfOneNameComeBeforeTheOptimizer) {
  Trainer job;
  for (uint32_t i = 0; i < 40; ++i) job.trace().DefineName(0, 1 + i, "step " + std::to_string(i));
  job.trace().DefineName(0, 100, "forward");
  job.Prepare();
  for (int i = 0; i < 40; ++i) {
    job.Mark(schema::MARK_RANGE_PUSH, 0, static_cast<uint64_t>(1 + i));
    for (int micro = 0; micro < 2; ++micro) {
      job.Mark(schema::MARK_RANGE_PUSH, 0, 100);
      job.Mark(schema::MARK_RANGE_POP, 0);
      job.Step(2 * i + micro, /*marks=*/true);
    }
    job.Mark(schema::MARK_RANGE_POP, 0);
  }
  const ProcessFindings findings = job.Find();
  EXPECT_EQ(findings.steps.source, StepSource::kNvtx);
  EXPECT_EQ(findings.steps.count, 40u);
  AnalyzeOptions options;
  options.step_marks = "optimizer";
  EXPECT_EQ(job.Find(options).steps.count, 80u);
  options.step_marks = "nvtx:forward";
  EXPECT_EQ(job.Find(options).steps.count, 80u);
  options.step_marks = "none";
  EXPECT_EQ(job.Find(options).steps.source, StepSource::kNone);
}

// What a site allocates for is named by the program itself.
TEST(FrameworkFindings, SitesHaveTheRangesThatTheyAllocateIn) {
  Trainer job;
  job.trace().DefineName(0, 1, "epoch #");
  job.trace().DefineName(0, 2, "train");
  job.Prepare();
  for (int i = 0; i < 40; ++i) {
    job.Mark(schema::MARK_RANGE_PUSH, 0, 1);
    job.Mark(schema::MARK_RANGE_PUSH, 0, 2);
    job.Step(i, /*marks=*/true);
    job.Mark(schema::MARK_RANGE_POP, 0);
    job.Mark(schema::MARK_RANGE_POP, 0);
  }
  const ProcessFindings findings = job.Find();
  size_t in_ranges = 0, in_none = 0;
  for (const ReportSite& site : findings.sites) {
    if (!site.nvtx_range) {
      ++in_none;  // what Prepare allocates
      continue;
    }
    ++in_ranges;
    EXPECT_EQ(site.nvtx_range->path, "epoch # > train");
    EXPECT_EQ(site.nvtx_range->share, 1);
  }
  EXPECT_GT(in_ranges, 0u);
  EXPECT_GT(in_none, 0u);
}

TEST(FrameworkFindings, MemoryHasItsCategory) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 50; ++i) job.Step(i, /*marks=*/true);
  const ProcessFindings findings = job.Find();
  EXPECT_EQ(CategoryOfFirst(findings, "Module.to"), "parameters");
  EXPECT_EQ(CategoryOfFirst(findings, "AdamW._init_group"), "optimizer_state");
  EXPECT_EQ(CategoryOfFirst(findings, "_MultiProcessingDataLoaderIter._next_data"), "input");
  std::map<std::string, uint64_t> allocations;
  for (const ReportSite& site : findings.sites) {
    if (site.level == Level::kFramework) allocations[site.category] += site.allocations;
  }
  EXPECT_EQ(allocations["gradients"], 50u);
  EXPECT_EQ(allocations["activations"], 50u);
  EXPECT_EQ(allocations["temporary"], 100u) << "of the backward pass and of the optimizer";
  const ReportSite* segments = SiteOf(findings, "Linear.forward", Level::kDriver);
  ASSERT_NE(segments, nullptr);
  EXPECT_EQ(segments->category, "segment");
}

TEST(FrameworkFindings, ALeakOfBlocksIsOneFindingWithTheDriverAsItsWitness) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 100; ++i) job.Step(i, true, [&] { job.Block(kLeak, 6 * kMiB); });
  const ProcessFindings findings = job.Find();
  size_t leaks = 0;
  for (const ReportSite& site : findings.sites) {
    if (!IsLeak(site)) continue;
    ++leaks;
    EXPECT_EQ(site.level, Level::kFramework);
    EXPECT_EQ(site.grade, "framework+driver");
    EXPECT_DOUBLE_EQ(site.rate_bytes_per_step, 6 * kMiB);
  }
  EXPECT_EQ(leaks, 1u);
  const ReportSite* segments = SiteOf(findings, "Linear.forward", Level::kDriver);
  ASSERT_NE(segments, nullptr);
  EXPECT_EQ(segments->verdict, Verdict::kSteady) << segments->explanation;
}

TEST(FrameworkFindings, ALeakThatTheSegmentsHaveRoomForIsGradedSo) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 100; ++i) job.Step(i, true, [&] { job.Block(kLeak, 16 * kKiB); });
  const ProcessFindings findings = job.Find();
  const ReportSite* leak = SiteOf(findings, "keep_outputs", Level::kFramework);
  ASSERT_NE(leak, nullptr);
  EXPECT_TRUE(IsLeak(*leak));
  EXPECT_EQ(leak->grade, "framework");
}

// As where each request copies on a stream of its own, until all streams of the pool have been used.
TEST(FrameworkFindings, SegmentsThatStopToGrowAreNotForTheLeak) {
  for (const bool stops : {true, false}) {
    Trainer job;
    job.Prepare();
    for (int i = 0; i < 120; ++i) {
      if (i % 2 == 0 && (i < 60 || !stops)) job.Segment(2 * kMiB);
      job.Step(i, true, [&] { job.Block(kLeak, 16 * kKiB); });
    }
    const ProcessFindings findings = job.Find();
    const ReportSite* leak = SiteOf(findings, "keep_outputs", Level::kFramework);
    ASSERT_NE(leak, nullptr);
    EXPECT_TRUE(IsLeak(*leak));
    EXPECT_EQ(leak->grade, stops ? "framework" : "framework+driver");
    EXPECT_EQ(leak->explanation.find("does not grow any more") != std::string::npos, stops) << leak->explanation;
  }
}

// Nothing leaks, but the device will be full.
void ExpectReserveGrows(const ProcessFindings& findings) {
  bool grows = false;
  for (const ReportSite& site : findings.sites) {
    EXPECT_FALSE(IsLeak(site)) << site.kind << ": " << site.explanation;
    grows |= site.verdict == Verdict::kFragmentationGrowth;
  }
  EXPECT_TRUE(grows);
  ASSERT_EQ(findings.reasons.size(), 1u);
  EXPECT_EQ(findings.reasons[0].id, "rising_reserve");
  EXPECT_NE(findings.reasons[0].text.find("Linear.forward: "), std::string::npos) << findings.reasons[0].text;
}

TEST(FrameworkFindings, SegmentsThatGrowAloneAreFragmentation) {
  Trainer job;
  job.Prepare();
  for (int i = 0; i < 100; ++i) {
    // Each step needs a larger piece than any hole has, and gives it back.
    job.Step(i, true, [&] {
      job.Segment(20 * kMiB);
      job.Free(job.Block(kForward, 19 * kMiB));
    });
  }
  ExpectReserveGrows(job.Find());
}

// A private pool for each step, in segments that could grow: each has its own part of the address space.
TEST(FrameworkFindings, AddressSpaceOfSegmentsIsNoLeakOfItsOwn) {
  Trainer job;
  job.Prepare();
  for (uint64_t i = 0; i < 100; ++i) {
    job.Step(static_cast<int>(i), true, [&] {
      const uint64_t place = (uint64_t{1} << 44) + (i << 32);
      job.AllocateAt(kSegment, place, uint64_t{1} << 32, schema::ADDRESS_RANGE);
      job.Map(kSegment, place, 20 * kMiB);
      job.Free(job.BlockAt(kForward, place, 19 * kMiB));
    });
  }
  ExpectReserveGrows(job.Find());
}

// What no block lies in is the job's own.
TEST(FrameworkFindings, AddressSpaceWithoutBlocksLeaks) {
  Trainer job;
  job.Prepare();
  for (uint64_t i = 0; i < 100; ++i) {
    job.Step(static_cast<int>(i), true,
             [&] { job.AllocateAt(kLeak, (uint64_t{1} << 44) + (i << 32), uint64_t{1} << 32, schema::ADDRESS_RANGE); });
  }
  const ProcessFindings findings = job.Find();
  const ReportSite* leak = SiteOf(findings, "keep_outputs", Level::kHandle);
  EXPECT_TRUE(leak != nullptr && IsLeak(*leak));
}

}  // namespace
}  // namespace vramtrack
