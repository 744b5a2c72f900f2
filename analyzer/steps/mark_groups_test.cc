// SPDX-License-Identifier: Apache-2.0
#include "analyzer/steps/mark_groups.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

// `count` marks from `first` on, `gap` apart.
MarkGroup Group(uint64_t first, uint64_t gap, uint64_t count) {
  MarkGroup group;
  for (uint64_t i = 0; i < count; ++i) group.Add(first + i * gap);
  return group;
}

using Indices = std::vector<size_t>;

TEST(MarkGroups, TheOnlyOneCounts) {
  EXPECT_EQ(SelectGroups({}), Indices{});
  EXPECT_EQ(SelectGroups({Group(10, 10, 100)}), Indices{0});
}

TEST(MarkGroups, OfTwoOptimizersInAStepOneCounts) {
  EXPECT_EQ(SelectGroups({Group(10, 10, 100), Group(15, 10, 100)}).size(), 1u);
}

TEST(MarkGroups, AGeneratorStepsMoreRarelyThanItsCritic) {
  EXPECT_EQ(SelectGroups({Group(10, 10, 500), Group(55, 50, 100)}), Indices{1});
}

TEST(MarkGroups, WhatComesOnceInManyStepsIsNoStep) {
  EXPECT_EQ(SelectGroups({Group(10, 10, 1000), Group(15, 1000, 10)}), Indices{0});
}

TEST(MarkGroups, WhatComesForAShortTimeIsNoStep) {
  EXPECT_EQ(SelectGroups({Group(10, 10, 100), Group(15, 10, 20)}), Indices{0});
}

TEST(MarkGroups, PhasesFollowEachOther) {
  EXPECT_EQ(SelectGroups({Group(10, 10, 100), Group(2000, 10, 30), Group(5000, 10, 50)}), (Indices{0, 1, 2}));
}

}  // namespace
}  // namespace vramtrack
