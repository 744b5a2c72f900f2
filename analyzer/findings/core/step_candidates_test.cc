// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/core/step_candidates.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "analyzer/ingest/testing/test_trace.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

constexpr uint32_t kOptimizer = 40;
constexpr uint64_t kStepName = 1, kOptimizerName = 2, kInstantName = 3, kRangeName = 4;

// Two threads with marks of every kind. A range begins in one thread and ends in the other one.
class Training {
 public:
  Training() {
    job_.trace().DefineName(0, kStepName, "step 12");
    job_.trace().DefineName(0, kOptimizerName, "Optimizer.step#SGD.step");
    job_.trace().DefineName(0, kInstantName, "batch");
    job_.trace().DefineName(0, kRangeName, "exchange");
    job_.DefinePython(kOptimizer, {{"step", 80, "/lib/torch/optim/sgd.py"}, {"main", 9}});
  }

  void Step() {
    const uint64_t number = job_.step() + 1;
    job_.OfThread(0);
    job_.Mark(schema::MARK_RANGE_START, 1, kRangeName, number);
    for (const uint32_t thread : {0u, 1u}) {
      job_.OfThread(thread);
      job_.Mark(schema::MARK_RANGE_PUSH, 1, kStepName);
      const JobObject kept = job_.Allocate(10 + thread, 1 << 20);
      for (uint32_t i = 0; i < 10 + number % 3; ++i) job_.Free(job_.Allocate(20 + i, 1 << 20));
      job_.Mark(schema::MARK_RECORD_FUNCTION, kOptimizer, kOptimizerName);
      job_.Free(job_.Allocate(kOptimizer, 1 << 10));
      job_.Mark(schema::MARK_INSTANT, 1, kInstantName);
      job_.Mark(schema::MARK_RANGE_POP, 1, 0);
      job_.Free(kept);
    }
    job_.Mark(schema::MARK_RANGE_END, 1, 0, number);
    job_.OfThread(0);
    job_.EndStep();
  }
  void Seal(uint32_t thread) { job_.trace().Seal(thread); }
  std::string Bytes() { return job_.Kill(); }

 private:
  JobBuilder job_ = JobBuilder({}, 1000);
};

void ExpectSame(const StepCandidates& a, const StepCandidates& b) {
  EXPECT_EQ(a.clock().begin(), b.clock().begin());
  EXPECT_EQ(a.clock().end(), b.clock().end());
  EXPECT_EQ(a.clock().work(), b.clock().work());
  EXPECT_EQ(a.optimizer_entries(), b.optimizer_entries());
  ASSERT_EQ(a.candidates().size(), b.candidates().size());
  for (size_t i = 0; i < a.candidates().size(); ++i) {
    const StepCandidate &in_a = a.candidates()[i], &in_b = b.candidates()[i];
    EXPECT_EQ(in_a.name, in_b.name);
    EXPECT_EQ(in_a.source, in_b.source);
    EXPECT_EQ(in_a.trust, in_b.trust);
    EXPECT_EQ(in_a.held, in_b.held);
    EXPECT_EQ(in_a.times, in_b.times);
    EXPECT_EQ(a.StepsOfOneThread(i), b.StepsOfOneThread(i));
    ASSERT_EQ(a.marks(i).size(), b.marks(i).size());
    for (size_t mark = 0; mark < a.marks(i).size(); ++mark) {
      EXPECT_EQ(a.marks(i)[mark].ordinal, b.marks(i)[mark].ordinal);
      EXPECT_EQ(a.marks(i)[mark].slot, b.marks(i)[mark].slot);
      EXPECT_EQ(a.marks(i)[mark].end, b.marks(i)[mark].end);
      EXPECT_EQ(a.clock().Both(a.marks(i)[mark].time), b.clock().Both(b.marks(i)[mark].time));
    }
  }
}

TEST(StepCandidates, AScanThatGoesOnFindsWhatANewOneFinds) {
  Training training;
  std::unique_ptr<MarkScan> kept;
  size_t settled = 0, went_on = 0;
  constexpr int kReadings = 60;
  for (int reading = 0; reading < kReadings; ++reading) {
    for (int step = 0; step <= reading % 4; ++step) training.Step();
    if (reading % 2 == 1) training.Seal(0);
    if (reading % 3 == 1) training.Seal(1);
    const TestTrace trace(training.Bytes());
    went_on += kept != nullptr && kept->CanGoOn(*trace);
    const StepCandidates candidates(*trace, &kept);
    ASSERT_GE(candidates.candidates().size(), 5u);
    ExpectSame(candidates, StepCandidates(*trace));
    EXPECT_GE(kept->blocks_read(), settled);
    settled = kept->blocks_read();
  }
  EXPECT_GE(settled, 40u);
  EXPECT_GE(went_on, 40u);
}

// Each scan looks at events as closely as their number allows, so it begins anew when there are many more.
TEST(StepCandidates, AScanBeginsAnewWhenAThreadHasTwiceAsMany) {
  Training training;
  std::unique_ptr<MarkScan> kept;
  int anew = 0;
  for (int reading = 0; reading < 40; ++reading) {
    for (int step = 0; step < 4; ++step) training.Step();
    training.Seal(0);
    training.Seal(1);
    const TestTrace trace(training.Bytes());
    anew += kept == nullptr || !kept->CanGoOn(*trace);
    StepCandidates(*trace, &kept);
  }
  EXPECT_GE(anew, 3);
  EXPECT_LE(anew, 14);
}

}  // namespace
}  // namespace vramtrack
