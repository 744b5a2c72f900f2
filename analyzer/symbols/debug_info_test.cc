// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbols/debug_info.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "analyzer/symbols/elf_file.h"
#include "analyzer/symbols/testing/fixture_files.h"

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

class DebugInfoTest : public testing::TestWithParam<const char*> {};

TEST_P(DebugInfoTest, ReadsOnlyTheUnitsThatHoldTheAddresses) {
  std::unique_ptr<ElfFile> file = ElfFile::Open(FixturePath(GetParam()));
  ASSERT_NE(file, nullptr);
  std::unique_ptr<DebugInfo> info = DebugInfo::Open(file->elf());
  ASSERT_NE(info, nullptr);
  EXPECT_EQ(info->units_read(), 0u);
  const uint64_t address = MarkedCalls().front().return_address - 1;
  EXPECT_EQ(info->Find(address).functions.size(), 1u);
  EXPECT_EQ(info->units_read(), 1u);
  info->Find(address);
  EXPECT_EQ(info->units_read(), 1u);

  // The program has four sources; the startup code that the compiler links has no debug information.
  const auto [begin, end] = TextRange(FixturePath("shapes"));
  for (uint64_t at = begin; at < end; ++at) info->Find(at);
  EXPECT_EQ(info->units_read(), 4u);
}

TEST_P(DebugInfoTest, KnowsNothingOutsideOfTheCode) {
  std::unique_ptr<ElfFile> file = ElfFile::Open(FixturePath(GetParam()));
  std::unique_ptr<DebugInfo> info = DebugInfo::Open(file->elf());
  EXPECT_TRUE(info->Find(UINT64_MAX).functions.empty());
  EXPECT_EQ(info->units_read(), 0u);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, DebugInfoTest, testing::Values("shapes", "without_aranges/shapes"));

TEST(DebugInfoFileTest, AFileWithoutDwarfIsSeen) {
  std::unique_ptr<ElfFile> file = ElfFile::Open(FixturePath("stripped/libshapes.so"));
  ASSERT_NE(file, nullptr);
  EXPECT_FALSE(file->has_debug_info());
  EXPECT_TRUE(ElfFile::Open(FixturePath("libshapes.so"))->has_debug_info());
}

}  // namespace
}  // namespace vramtrack
