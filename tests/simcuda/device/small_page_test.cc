// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/device/small_page.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <vector>

namespace vramtrack::simcuda {
namespace {

TEST(SmallPageTest, agrees_with_a_scan_of_all_units) {
  std::mt19937 random(2);
  for (const size_t largest : {512u, 4096u, 100000u, 1048575u}) {
    auto page = std::make_unique<SmallPage>();
    std::vector<bool> used(SmallPage::kUnits);
    std::map<unsigned, size_t> live;
    for (int step = 0; step < 4000; ++step) {
      const size_t bytes = 1 + random() % largest;
      const unsigned units = SmallPage::UnitsOf(bytes);
      if (random() % 5 < 3) {
        int expected = -1;
        unsigned run = 0, longest = 0;
        for (unsigned unit = 0; unit < SmallPage::kUnits; ++unit) {
          run = used[unit] ? 0 : run + 1;
          longest = std::max(longest, run);
          if (run == units && expected < 0) expected = static_cast<int>(unit + 1 - units);
        }
        ASSERT_GE(page->longest_bound(), longest);
        ASSERT_EQ(page->Take(bytes), expected);
        if (expected < 0) {
          ASSERT_EQ(page->longest_bound(), longest);
          continue;
        }
        for (unsigned unit = 0; unit < units; ++unit) used[static_cast<unsigned>(expected) + unit] = true;
        live[static_cast<unsigned>(expected)] = bytes;
      } else if (!live.empty()) {
        auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
        ASSERT_TRUE(page->Give(victim->first));
        ASSERT_FALSE(page->Give(victim->first));
        for (unsigned unit = 0; unit < SmallPage::UnitsOf(victim->second); ++unit) used[victim->first + unit] = false;
        live.erase(victim);
      }
      ASSERT_EQ(page->live(), live.size());
    }
    for (const auto& [start, bytes] : live) {
      EXPECT_EQ(page->BytesAt(start), bytes);
      EXPECT_EQ(page->StartOf(start + SmallPage::UnitsOf(bytes) - 1), static_cast<int>(start));
    }
    page->Clear();
    EXPECT_TRUE(page->empty());
    EXPECT_EQ(page->Take(kPageBytes), 0);
  }
}

}  // namespace
}  // namespace vramtrack::simcuda
