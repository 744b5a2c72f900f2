// SPDX-License-Identifier: Apache-2.0

// Binaries that were cut or damaged in a copy: whatever comes out, it comes out soon and without a crash.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "analyzer/symbols/symbolizer.h"
#include "analyzer/symbols/testing/fixture_files.h"

namespace vramtrack {
namespace {

// How many variants each test tries. A longer search is a matter of this variable.
int Rounds(int usual) {
  const char* rounds = std::getenv("VRAMTRACK_DAMAGED_FILES_ROUNDS");
  return rounds != nullptr ? std::atoi(rounds) : usual;
}

class DamagedFilesTest : public testing::TestWithParam<const char*> {
 protected:
  DamagedFilesTest()
      : path_(NewFolder() + "/damaged"),
        bytes_(ReadFile(FixturePath(GetParam()))),
        id_(RawBuildId(FixturePath(GetParam()))) {
    for (const MarkedCall& call : MarkedCalls()) addresses_.push_back(call.return_address);
  }

  // Frames of all addresses, of a file with these bytes. Ends the program if that takes too long.
  void Try(const std::string& bytes, const std::string& build_id, const std::string& what) {
    SCOPED_TRACE(what);
    WriteFile(path_, bytes);
    constexpr unsigned int kLimitSeconds = 20;
    alarm(kLimitSeconds);
    Symbolizer symbolizer;
    for (uint64_t address : addresses_) {
      const std::vector<Frame>& frames = symbolizer.Symbolize({path_, build_id}, address, true);
      ASSERT_FALSE(frames.empty());
      for (const Frame& frame : frames) {
        ASSERT_FALSE(frame.function.empty());
        ASSERT_EQ(frame.offset, address);
      }
    }
    alarm(0);
  }

  const std::string path_;
  const std::string bytes_;
  const std::string id_;
  std::vector<uint64_t> addresses_;
};

TEST_P(DamagedFilesTest, CutAtAnyLength) {
  std::mt19937 random(1);
  for (int round = 0; round < Rounds(60); ++round) {
    // Half of the cuts are in the headers, where they hurt most.
    const size_t limit = round % 2 == 0 ? bytes_.size() : 1024;
    const size_t length = std::uniform_int_distribution<size_t>(0, limit)(random);
    Try(bytes_.substr(0, length), "", "cut at " + std::to_string(length));
  }
}

TEST_P(DamagedFilesTest, WithFlippedBytes) {
  constexpr size_t kHeaderBytes = 1024;
  constexpr size_t kSectionTableBytes = 3072;  // at the end of the file
  for (int round = 0; round < Rounds(150); ++round) {
    std::mt19937 random(static_cast<unsigned int>(round));
    size_t begin = 0;
    size_t end = bytes_.size();
    if (round % 3 == 1) end = kHeaderBytes;
    if (round % 3 == 2) begin = end - kSectionTableBytes;
    std::string bytes = bytes_;
    const int flips = 1 << (round % 10);
    for (int i = 0; i < flips; ++i) {
      const size_t at = std::uniform_int_distribution<size_t>(begin, end - 1)(random);
      bytes[at] = static_cast<char>(random());
    }
    Try(bytes, round % 2 == 0 ? "" : id_, "flips of round " + std::to_string(round));
  }
}

TEST_P(DamagedFilesTest, WithLostBlocks) {
  constexpr size_t kBlockBytes = 4096;
  for (size_t begin = 0; begin < bytes_.size(); begin += kBlockBytes) {
    std::string bytes = bytes_;
    bytes.replace(begin, std::min(kBlockBytes, bytes.size() - begin), std::min(kBlockBytes, bytes.size() - begin),
                  '\0');
    Try(bytes, "", "zeros at " + std::to_string(begin));
  }
}

INSTANTIATE_TEST_SUITE_P(Fixtures, DamagedFilesTest,
                         testing::Values("shapes", "split/shapes.debug", "compressed/shapes",
                                         "without_aranges/shapes"));

TEST(DamagedFileTest, ACutFileGivesModuleAndOffset) {
  const std::string id = RawBuildId(FixturePath("shapes"));
  const std::string path = WriteFile(NewFolder() + "/shapes", ReadFile(FixturePath("shapes")).substr(0, 200));
  Symbolizer symbolizer;
  EXPECT_EQ(symbolizer.Symbolize({path, id}, 0x1234, true)[0].function, "shapes+0x1234");
  EXPECT_EQ(symbolizer.Symbolize({path, ""}, 0x1234, true)[0].function, "shapes+0x1234");
  EXPECT_EQ(symbolizer.Status({path, id}).state, ModuleState::kBuildIdMismatch);
  EXPECT_EQ(symbolizer.Status({path, ""}).state, ModuleState::kNoSymbols);
}

}  // namespace
}  // namespace vramtrack
