// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/address_ranges.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

TEST(AddressRangesTest, FindsWhatHoldsAnAddress) {
  AddressRanges ranges;
  ranges.Add(20, 30, 2);
  ranges.Add(10, 20, 1);
  ranges.Add(40, 40, 3);  // empty
  ranges.Sort();
  EXPECT_EQ(ranges.Find(9), std::nullopt);
  EXPECT_EQ(ranges.Find(10), 1u);
  EXPECT_EQ(ranges.Find(19), 1u);
  EXPECT_EQ(ranges.Find(20), 2u);
  EXPECT_EQ(ranges.Find(30), std::nullopt);
  EXPECT_EQ(ranges.Find(40), std::nullopt);
}

TEST(AddressRangesTest, TheInnermostOfNestedRangesWins) {
  AddressRanges ranges;
  ranges.Add(0, 100, 1);
  ranges.Add(10, 20, 2);
  ranges.Add(10, 15, 3);
  ranges.Sort();
  EXPECT_EQ(ranges.Find(12), 3u);
  EXPECT_EQ(ranges.Find(17), 2u);
  EXPECT_EQ(ranges.Find(50), 1u);
}

TEST(AddressRangesTest, EmptyKnowsNothing) {
  AddressRanges ranges;
  ranges.Sort();
  EXPECT_EQ(ranges.Find(0), std::nullopt);
}

}  // namespace
}  // namespace vramtrack
