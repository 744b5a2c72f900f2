// SPDX-License-Identifier: Apache-2.0
#include "analyzer/diff/significance.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

#include "analyzer/profile/block_sizes.h"
#include "analyzer/profile/event_sequence.h"

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

// A series whose values are `likeness` times their predecessors and chance, with variance 1.
std::vector<double> Wandering(double likeness, double mean, std::mt19937* random) {
  std::normal_distribution<double> normal;
  std::vector<double> values;
  double value = normal(*random);
  for (int i = 0; i < 24; ++i) {
    values.push_back(mean + value);
    value = likeness * value + std::sqrt(1 - likeness * likeness) * normal(*random);
  }
  return values;
}

// How many of 400 pairs of series would be told apart.
int ToldApart(double likeness, double shift, RankTest (*test)(const std::vector<double>&, const std::vector<double>&)) {
  std::mt19937 random(1);
  int apart = 0;
  for (int i = 0; i < 400; ++i) {
    const std::vector<double> base = Wandering(likeness, 0, &random), next = Wandering(likeness, shift, &random);
    const RankTest result = test(base, next);
    apart += result.p_value < kAlpha && std::fabs(result.cliffs_delta) >= kLeastEffect;
  }
  return apart;
}

TEST(Compare, TakesASeriesThatWandersForNoChange) {
  EXPECT_GT(ToldApart(0.9, 0, MannWhitney), 60);  // what the test alone would say
  EXPECT_LE(ToldApart(0.9, 0, Compare), 12);
  EXPECT_LE(ToldApart(0.7, 0, Compare), 12);
  EXPECT_LE(ToldApart(0, 0, Compare), 1);
}

TEST(Compare, FindsAChangeOfIndependentValues) {
  EXPECT_GE(ToldApart(0, 2, Compare), 380);
  EXPECT_GE(ToldApart(0.5, 4, Compare), 300);
}

TEST(Compare, OfConstantsThatDifferIsSure) {
  EXPECT_LT(Compare(std::vector<double>(24, 5), std::vector<double>(24, 6)).p_value, 1e-9);
  EXPECT_EQ(Compare(std::vector<double>(24, 5), std::vector<double>(24, 5)).p_value, 1);
}

TEST(BlockSizes, OfWhatWasHandedOutWholeAreThoseOfWhatWasCutOff) {
  constexpr uint64_t kMiB = 1 << 20;
  BlockSizes base, next;
  base.Add(8 * kMiB, true);
  next.Add(8 * kMiB + kMiB / 2, false);  // a cached block that was half a mebibyte too large
  const auto [old, now] = BlockSizes::AskedFor(base, next);
  EXPECT_EQ(old, 1);
  EXPECT_DOUBLE_EQ(now, 16.0 / 17);
  // Cut off at that size it was asked for.
  next.Add(8 * kMiB + kMiB / 2, true);
  EXPECT_EQ(BlockSizes::AskedFor(base, next).second, 1);
  // Nothing is more than a mebibyte too large.
  BlockSizes larger;
  larger.Add(12 * kMiB, false);
  EXPECT_EQ(BlockSizes::AskedFor(base, larger).second, 1);
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
