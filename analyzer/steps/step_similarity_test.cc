// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/step_similarity.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

void Step(StepSimilarity& similarity, std::initializer_list<uint32_t> sites) {
  for (const uint32_t site : sites) similarity.OnEvent(site);
  similarity.OnStepEnd();
}

TEST(StepSimilarity, IsSharedOccurrencesOverAllOccurrences) {
  StepSimilarity similarity;
  Step(similarity, {1, 1, 2});
  Step(similarity, {1, 1, 2});
  Step(similarity, {1, 2, 3});
  Step(similarity, {900000});
  EXPECT_FLOAT_EQ(similarity.similarities()[0], 0);
  EXPECT_FLOAT_EQ(similarity.similarities()[1], 1);
  EXPECT_FLOAT_EQ(similarity.similarities()[2], .5);
  EXPECT_FLOAT_EQ(similarity.similarities()[3], 0);
}

TEST(StepSimilarity, AnEvaluationIsOneOddStepAndNotTwo) {
  StepSimilarity similarity;
  for (int step = 0; step < 12; ++step) {
    if (step == 6) {
      Step(similarity, {7, 8, 9, 7, 8, 9});
    } else {
      Step(similarity, {1, 2, 3});
    }
  }
  EXPECT_DOUBLE_EQ(ShareOfMatchingSteps(similarity.similarities()), .9);
}

TEST(StructureSettled, IsTheFirstOfTheStepsThatAreAlike) {
  EXPECT_EQ(StructureSettled({0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1}), 2u);
  EXPECT_EQ(StructureSettled({0, 1, 1, 1, 1, 1, 1, 1}), 0u);
}

TEST(StructureSettled, GivesUpOnARunThatNeverSettles) {
  EXPECT_EQ(StructureSettled(std::vector<float>(100, .5f)), 0u);
  std::vector<float> late(100, .5f);
  for (size_t step = 60; step < 100; ++step) late[step] = 1;
  EXPECT_EQ(StructureSettled(late), 0u);
  EXPECT_EQ(StructureSettled({}), 0u);
}

}  // namespace
}  // namespace vramtrack
