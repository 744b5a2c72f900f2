// SPDX-License-Identifier: Apache-2.0
//
// Usage: python_lines_test FILE..., with files that fixtures/python_lines.py printed. Compares the line of each
// instruction with that of the interpreter itself.
#include "analyzer/symbols/python_lines.h"

#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace vramtrack {
namespace {

std::vector<std::string>& Files() {
  static std::vector<std::string> files;
  return files;
}

schema::LineTable FormatNamed(const std::string& name) {
  return name == "lnotab"      ? schema::LINES_LNOTAB
         : name == "linetable" ? schema::LINES_LINETABLE
                               : schema::LINES_LOCATIONS;
}

std::string FromHex(const std::string& hex) {
  std::string bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// Number of instructions compared.
size_t CompareCode(const std::string& row) {
  std::istringstream in(row);
  std::string format, hex, entry;
  uint32_t first_line, offset = 0, line = 0;
  in >> format >> first_line >> hex;
  const PythonLines lines(FormatNamed(format), FromHex(hex), first_line);
  size_t compared = 0;
  while (in >> entry) {
    const size_t colon = entry.find(':');
    const auto next = static_cast<uint32_t>(std::stoul(entry.substr(0, colon)));
    for (; offset < next; offset += 2, ++compared) {
      if (lines.LineAt(offset) == line) continue;
      ADD_FAILURE() << "at " << offset << ": " << lines.LineAt(offset) << " instead of " << line << " in " << row;
      return compared;
    }
    if (colon + 1 < entry.size()) line = static_cast<uint32_t>(std::stoul(entry.substr(colon + 1)));
  }
  return compared;
}

TEST(PythonLines, AreThoseThatTheInterpreterSays) {
  ASSERT_FALSE(Files().empty());
  for (const std::string& path : Files()) {
    std::ifstream file(path);
    size_t compared = 0;
    for (std::string row; std::getline(file, row);) {
      if (row[0] != '#') compared += CompareCode(row);
    }
    EXPECT_GT(compared, 1000u) << path;
    RecordProperty("instructions", std::to_string(compared));
  }
}

TEST(PythonLines, WithoutATableTheFirstLineIsBest) {
  EXPECT_EQ(PythonLines(schema::LINES_NONE, "", 7).LineAt(40), 7u);
  EXPECT_EQ(PythonLines(schema::LINES_LNOTAB, "", 7).LineAt(40), 7u);
  EXPECT_EQ(PythonLines(schema::LINES_LOCATIONS, "", 7).LineAt(0), 0u);
}

TEST(PythonLines, AnyBytesAreRead) {
  std::mt19937 random(1);
  for (int round = 0; round < 20000; ++round) {
    std::string bytes(random() % 60, '\0');
    for (char& byte : bytes) byte = static_cast<char>(random() % 4 == 0 ? 0xff : random());
    const auto format = static_cast<schema::LineTable>(random() % 5);
    const PythonLines lines(format, bytes, static_cast<uint32_t>(random()));
    for (const uint32_t offset : {0u, 2u, 100u, UINT32_MAX}) lines.LineAt(offset);
  }
  // Numbers that no line has.
  const std::string long_line = "\xf0\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x3f";
  std::string many;
  for (int i = 0; i < 100000; ++i) many += long_line;
  EXPECT_EQ(PythonLines(schema::LINES_LOCATIONS, many, 1).LineAt(2), 0u);
}

}  // namespace
}  // namespace vramtrack

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) vramtrack::Files().push_back(argv[i]);
  return RUN_ALL_TESTS();
}
