// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/marks.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

TEST(Marks, AMarkEndsAStep) {
  const Steps steps = StepsFromMarks({{100, 1, 0, .5}, {200, 1, 1, .4}, {300, 1, 2, .3}});
  EXPECT_EQ(steps.source, StepSource::kMarks);
  EXPECT_STREQ(ToString(steps.source), "marks");
  EXPECT_EQ(steps.confidence, 1);
  EXPECT_EQ(steps.complete(), 3u);
  EXPECT_EQ(steps.StepOf(0), 0u) << "before the first mark";
  EXPECT_EQ(steps.StepOf(99), 0u);
  EXPECT_EQ(steps.StepOf(100), 1u);
  EXPECT_EQ(steps.StepOf(299), 2u);
  EXPECT_EQ(steps.StepOf(300), 3u) << "after the last mark: incomplete";
  EXPECT_EQ(steps.values, (std::vector<double>{.5, .4, .3}));
}

TEST(Marks, NumbersMayRepeatSkipAndRestart) {
  const Steps steps = StepsFromMarks({{10, 1, 7, 0}, {20, 1, 7, 0}, {30, 1, 100, 0}, {40, 1, 0, 0}});
  EXPECT_EQ(steps.complete(), 4u);
  EXPECT_EQ(steps.numbers, (std::vector<uint64_t>{7, 7, 100, 0}));
}

TEST(Marks, OfSeveralThreadsTheOneWithTheMostMarksCounts) {
  const Steps steps = StepsFromMarks({{10, 1, 0, 0}, {12, 2, 0, 0}, {20, 2, 1, 0}, {30, 2, 2, 0}, {31, 1, 1, 0}});
  EXPECT_EQ(steps.boundaries, (std::vector<uint64_t>{12, 20, 30}));
}

TEST(Marks, OfThreadsWithEquallyManyTheFirstToMarkCounts) {
  const Steps steps = StepsFromMarks({{12, 1, 0, 0}, {10, 2, 0, 0}, {20, 2, 1, 0}, {22, 1, 1, 0}});
  EXPECT_EQ(steps.boundaries, (std::vector<uint64_t>{10, 20}));
}

TEST(Marks, NoMarksNoSteps) {
  const Steps steps = StepsFromMarks({});
  EXPECT_EQ(steps.source, StepSource::kNone);
  EXPECT_STREQ(ToString(steps.source), "none");
  EXPECT_EQ(steps.complete(), 0u);
  EXPECT_EQ(steps.StepOf(12345), 0u);
}

}  // namespace
}  // namespace vramtrack
