// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/page_usage.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

namespace vramtrack {
namespace {

// Sizes around those at which the driver places memory in another way, with all and with a half of it live.
TEST(PageUsage, IsWhatTheDriverOfAnH100Counts) {
  std::ifstream recorded("analyzer/ledger/testing/h100_pages.tsv");
  ASSERT_TRUE(recorded.is_open());
  PageUsage pages;
  std::map<uint64_t, uint64_t> live;  // bytes by address
  int asked = 0;
  for (std::string line; std::getline(recorded, line);) {
    if (line[0] == '#') continue;
    std::istringstream words(line);
    std::string what;
    uint64_t first = 0, bytes = 0;
    words >> what >> first;
    if (what == "allocate") {
      words >> bytes;
      live[first] = bytes;
      pages.Add(first, bytes);
    } else if (what == "free") {
      ASSERT_EQ(live.count(first), 1u) << line;
      pages.Remove(first, live[first]);
      live.erase(first);
    } else {
      ASSERT_EQ(what, "used");
      const DeviceUsage usage = pages.usage();
      EXPECT_EQ(usage.reserved, first);
      EXPECT_EQ(usage.reserved, usage.live + usage.rounding + usage.free_pinned);
      ++asked;
    }
    ASSERT_TRUE(words) << line;
  }
  EXPECT_GT(asked, 30);
}

}  // namespace
}  // namespace vramtrack
