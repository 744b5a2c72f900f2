// SPDX-License-Identifier: Apache-2.0
#include "analyzer/job/job_devices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace vramtrack {
namespace {

constexpr uint64_t kGiB = uint64_t{1} << 30;

// Of a process that holds `gib[i]` in its i-th second and nothing at its end.
CardUse Use(double began, const std::vector<uint64_t>& gib, const std::string& uuid = "GPU-1") {
  CardUse use;
  use.uuid = uuid;
  use.name = "Card";
  use.total_bytes = 80 * kGiB;
  use.began_s = began;
  for (size_t i = 0; i < gib.size(); ++i) {
    use.until_s.push_back(began + static_cast<double>(i + 1));
    use.reserved.push_back(gib[i] * kGiB);
    use.peak = std::max(use.peak, gib[i] * kGiB);
  }
  use.ended_s = began + static_cast<double>(gib.size());
  return use;
}

TEST(JobCards, WhatProcessesHadTogetherIsOfOneMoment) {
  JobCards cards;
  cards.Add(12, std::nullopt, {Use(1002, {30, 50, 20})});
  cards.Add(11, 0, {Use(1000, {10, 60, 40, 5})});
  const std::vector<ReportCard> found = cards.Finish();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].uuid, "GPU-1");
  EXPECT_EQ(found[0].total_bytes, 80 * kGiB);
  EXPECT_EQ(found[0].most, 70 * kGiB);  // and not the sum of the peaks, 110
  EXPECT_EQ(found[0].most_s, 2);
  ASSERT_EQ(found[0].processes.size(), 2u);
  EXPECT_EQ(found[0].processes[0].pid, 11u);
  EXPECT_EQ(found[0].processes[0].rank, 0);
  EXPECT_EQ(found[0].processes[0].at_most, 40 * kGiB);
  EXPECT_EQ(found[0].processes[1].began_s, 2);
  EXPECT_EQ(found[0].processes[1].at_most, 30 * kGiB);
  EXPECT_EQ(found[0].processes[1].peak, 50 * kGiB);
  EXPECT_FALSE(found[0].others);
}

TEST(JobCards, ProcessesInTurnNeverHadItTogether) {
  JobCards cards;
  cards.Add(1, std::nullopt, {Use(1000, {60, 60})});
  cards.Add(2, std::nullopt, {Use(1002, {70, 70})});
  const std::vector<ReportCard> found = cards.Finish();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].most, 70 * kGiB);
  EXPECT_EQ(found[0].processes[0].at_most, 0u);
}

TEST(JobCards, OthersAreWhatNoneOfThemHad) {
  JobCards cards;
  CardUse asks = Use(1000, {10, 10, 10});
  asks.asked_s = 1001.5;
  asks.in_use = 25 * kGiB;
  cards.Add(1, std::nullopt, {asks});
  cards.Add(2, std::nullopt, {Use(1001, {12, 12})});
  const std::vector<ReportCard> found = cards.Finish();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].others, 3 * kGiB);
}

TEST(JobCards, OnlySharedCardsAreListed) {
  JobCards cards;
  cards.Add(1, 0, {Use(1000, {1}, "GPU-1"), Use(1000, {1}, "GPU-3"), Use(1000, {1}, "")});
  cards.Add(2, 1, {Use(1000, {1}, "GPU-2"), Use(1000, {1}, "GPU-3"), Use(1000, {1}, "")});
  const std::vector<ReportCard> found = cards.Finish();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].uuid, "GPU-3");
}

TEST(JobCards, TheOrderOfProcessesDoesNotMatter) {
  std::vector<ReportCard> found[2];
  for (const bool reversed : {false, true}) {
    JobCards cards;
    for (int i = 0; i < 50; ++i) {
      const int one = reversed ? 49 - i : i;
      cards.Add(static_cast<uint32_t>(one), one, {Use(1000 + one % 7, {1, static_cast<uint64_t>(one), 2})});
    }
    found[reversed] = cards.Finish();
  }
  ASSERT_EQ(found[0].size(), 1u);
  EXPECT_EQ(found[0][0].most, found[1][0].most);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(found[0][0].processes[i].pid, found[1][0].processes[i].pid);
}

}  // namespace
}  // namespace vramtrack
