// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/debug_link_crc.h"

#include <gtest/gtest.h>

#include <fstream>

namespace vramtrack {
namespace {

TEST(DebugLinkCrcTest, IsTheCrcOfIeee8023) {
  EXPECT_EQ(DebugLinkCrc(""), 0u);
  // The check value that catalogues of CRCs give for this one.
  EXPECT_EQ(DebugLinkCrc("123456789"), 0xcbf43926u);
  EXPECT_EQ(DebugLinkCrc("6789", DebugLinkCrc("12345")), 0xcbf43926u);
}

TEST(DebugLinkCrcTest, OfAFile) {
  const std::string path = testing::TempDir() + "/crc";
  std::ofstream(path) << "123456789";
  EXPECT_EQ(DebugLinkCrcOfFile(path), 0xcbf43926u);
  EXPECT_EQ(DebugLinkCrcOfFile(path + ".missing"), std::nullopt);
}

}  // namespace
}  // namespace vramtrack
