// SPDX-License-Identifier: Apache-2.0

// Every address of the fixtures' code, against addr2line of binutils.

#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "analyzer/base/function_name.h"
#include "analyzer/symbols/source_path.h"
#include "analyzer/symbols/symbolizer.h"
#include "analyzer/symbols/testing/fixture_files.h"

namespace vramtrack {
namespace {

struct OracleFrame {
  std::string function;
  std::string file;
  uint32_t line = 0;
};

// Of each address, addr2line's frames.
std::vector<std::vector<OracleFrame>> AskAddr2line(const std::string& path, const std::vector<uint64_t>& addresses) {
  std::ostringstream input;
  for (uint64_t address : addresses) input << "0x" << std::hex << address << "\n";
  const std::string questions = WriteFile(NewFolder() + "/addresses", input.str());
  std::istringstream output(OutputOf("addr2line -a -i -f -C -e '" + path + "' <'" + questions + "'"));

  std::vector<std::vector<OracleFrame>> answers;
  std::string text;
  while (std::getline(output, text)) {
    if (text.rfind("0x", 0) == 0) {
      answers.emplace_back();
      continue;
    }
    OracleFrame frame;
    if (text != "??") frame.function = text;
    std::getline(output, text);
    text = text.substr(0, text.find(" (discriminator"));
    const size_t colon = text.rfind(':');
    if (text.substr(0, colon) != "??") frame.file = SourcePath(text.substr(0, colon), "");
    if (text.substr(colon + 1) != "?") frame.line = static_cast<uint32_t>(std::stoul(text.substr(colon + 1)));
    answers.back().push_back(frame);
  }
  return answers;
}

std::string LastComponent(const std::string& function) {
  const std::string name = QualifiedName(function);
  const size_t colons = name.rfind("::");
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string Describe(const std::vector<Frame>& ours, const std::vector<OracleFrame>& theirs) {
  std::ostringstream text;
  for (const Frame& frame : ours)
    text << "  ours:   " << frame.function << " " << frame.file << ":" << frame.line << "\n";
  for (const OracleFrame& frame : theirs) {
    text << "  theirs: " << frame.function << " " << frame.file << ":" << frame.line << "\n";
  }
  return text.str();
}

class SymbolizerOracleTest : public testing::TestWithParam<const char*> {};

TEST_P(SymbolizerOracleTest, AgreesWithAddr2lineOnEveryAddress) {
  const std::string path = FixturePath(GetParam());
  const auto [begin, end] = TextRange(path);
  std::vector<uint64_t> addresses;
  for (uint64_t address = begin; address < end; ++address) addresses.push_back(address);
  const auto answers = AskAddr2line(path, addresses);
  ASSERT_EQ(answers.size(), addresses.size());

  Symbolizer symbolizer;
  size_t with_inlined = 0;
  size_t named = 0;
  for (size_t i = 0; i < addresses.size(); ++i) {
    const std::vector<OracleFrame>& theirs = answers[i];
    // Our answer for code without a line is the line before it; addr2line's is none.
    if (theirs[0].line == 0 && !theirs[0].file.empty()) continue;
    const std::vector<Frame>& ours = symbolizer.Symbolize({path, ""}, addresses[i], false);
    SCOPED_TRACE("address " + std::to_string(addresses[i]) + "\n" + Describe(ours, theirs));
    ASSERT_EQ(ours.size(), theirs.size());
    with_inlined += ours.size() > 1;
    for (size_t k = 0; k < ours.size(); ++k) {
      EXPECT_EQ(ours[k].file, theirs[k].file);
      EXPECT_EQ(ours[k].line, theirs[k].line);
      EXPECT_EQ(ours[k].inlined, k + 1 < ours.size());
      const bool unnamed = ours[k].function.find("+0x") != std::string::npos;
      if (unnamed) {
        // addr2line gives the padding between functions to the one before it, beyond its size.
        EXPECT_EQ(theirs.size(), 1u);
      } else if (k == 0 && ours[k].inlined && theirs[k].function == theirs.back().function) {
        // It names an innermost inlined function without a linkage name after the code that it is in.
        EXPECT_FALSE(ours[k].function.empty());
      } else {
        // It leaves out the scope of what has no linkage name.
        EXPECT_EQ(LastComponent(ours[k].function), LastComponent(theirs[k].function));
      }
      named += !unnamed;
    }
    if (HasFailure()) return;
  }
  EXPECT_GT(with_inlined, addresses.size() / 20);
  EXPECT_GT(named, addresses.size() * 8 / 10);
}

INSTANTIATE_TEST_SUITE_P(Fixtures, SymbolizerOracleTest,
                         testing::Values("shapes", "libshapes.so", "compressed/shapes", "without_aranges/shapes"));

}  // namespace
}  // namespace vramtrack
