// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/elf_file.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

TEST(BuildIdTest, RawAndHexAreTheSameId) {
  const std::string raw("\x01\xab\x00\xff", 4);
  EXPECT_EQ(NormalizedBuildId(raw), "01ab00ff");
  EXPECT_EQ(NormalizedBuildId("01AB00ff"), "01ab00ff");
  EXPECT_EQ(NormalizedBuildId(""), "");
  EXPECT_EQ(BuildIdToHex(raw), "01ab00ff");
}

TEST(BuildIdTest, DebugFilesLieBelowTheirFirstByte) {
  EXPECT_EQ(BuildIdDebugPath("01ab00ff"), "01/ab00ff.debug");
  EXPECT_EQ(BuildIdDebugPath("01"), "");
  EXPECT_EQ(BuildIdDebugPath(""), "");
}

}  // namespace
}  // namespace vramtrack
