// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/significance.h"

#include <gtest/gtest.h>

#include "analyzer/diff/event_sequence.h"

namespace vramtrack {
namespace {

TEST(MannWhitney, AgreesWithACountByHand) {
  // Of 64 pairs the second value is larger in 1 + 3 + 5 + 7 + 4 * 8 = 48: z = (48 - 32 - .5) / sqrt(64 / 12 * 17).
  // SciPy's mannwhitneyu(method="asymptotic") gives the same.
  const RankTest test = MannWhitney({1.1, 2.2, 3.3, 4.4, 5.5, 6.6, 7.7, 8.8}, {2, 4, 6, 8, 10, 12, 14, 16});
  EXPECT_NEAR(test.p_value, 0.10356, 0.0001);
  EXPECT_NEAR(test.cliffs_delta, 0.5, 1e-9);
}

TEST(MannWhitney, OfEqualValuesTellsNothing) {
  EXPECT_EQ(MannWhitney({3, 3, 3, 3}, {3, 3, 3, 3}).p_value, 1);
  EXPECT_EQ(MannWhitney({}, {1}).p_value, 1);
}

TEST(MannWhitney, OfConstantsThatDifferIsSure) {
  const RankTest test = MannWhitney(std::vector<double>(24, 5), std::vector<double>(24, 6));
  EXPECT_LT(test.p_value, 1e-9);
  EXPECT_EQ(test.cliffs_delta, 1);
}

TEST(IsMaterial, WantsBothShareAndBytes) {
  EXPECT_FALSE(IsMaterial(0, 1 << 19));
  EXPECT_TRUE(IsMaterial(0, 1 << 20));
  EXPECT_FALSE(IsMaterial(1e9, 1.005e9));
  EXPECT_TRUE(IsMaterial(1e9, 0.98e9));
}

TEST(RatesDiffer, WhereTheIntervalOfTheDifferenceLeavesOutZero) {
  EXPECT_TRUE(RatesDiffer({0, 0, 0}, {4096, 4000, 4200}));
  EXPECT_FALSE(RatesDiffer({4096, 3000, 5200}, {4500, 3500, 5500}));
  EXPECT_FALSE(RatesDiffer({0, 0, 0}, {5, 5, 5}));  // half a mebibyte after 100,000 steps
}

TEST(EventSequence, FindsWhereTwoPart) {
  for (const uint64_t parts : {0u, 1u, 63u, 64u, 1000u, 70001u, 8999999u}) {
    EventSequence a, b;
    for (uint64_t i = 0; i < 9000000; ++i) {
      a.Add(i % 1000);
      b.Add(i == parts ? 7777 : i % 1000);
    }
    EXPECT_FALSE(a.SameAs(b));
    const auto [begin, end] = EventSequence::PartsWithin(a, b);
    EXPECT_LE(begin, parts);
    EXPECT_GT(end, parts);
    EXPECT_LE(end - begin, 1024u);
  }
}

TEST(EventSequence, OfDifferentLengthsPartsWhereTheShorterEnds) {
  EventSequence a, b;
  for (uint64_t i = 0; i < 5000000; ++i) {
    if (i < 3000) a.Add(i);
    b.Add(i);
  }
  EXPECT_FALSE(a.SameAs(b));
  const auto [begin, end] = EventSequence::PartsWithin(a, b);
  EXPECT_LE(begin, 3000u);
  EXPECT_EQ(end, 3001u);
}

TEST(EventSequence, KnowsTheSameEventsInAnotherOrder) {
  EventSequence a, b;
  for (const uint64_t word : {1, 2, 3}) a.Add(word);
  for (const uint64_t word : {3, 1, 2}) b.Add(word);
  EXPECT_FALSE(a.SameAs(b));
  EXPECT_TRUE(a.SameEventsAs(b));
  b.Add(3);
  EXPECT_FALSE(a.SameEventsAs(b));
}

}  // namespace
}  // namespace vramtrack
