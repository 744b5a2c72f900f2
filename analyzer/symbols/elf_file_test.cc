// SPDX-License-Identifier: Apache-2.0
#include "analyzer/symbols/elf_file.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>

#include "analyzer/symbols/testing/fixture_files.h"

namespace vramtrack {
namespace {

TEST(SymbolTableTest, HoldsEverySizedFunctionThatNmLists) {
  const std::string path = FixturePath("libshapes.so");
  std::unique_ptr<ElfFile> file = ElfFile::Open(path);
  ASSERT_NE(file, nullptr);
  SymbolTable table(file->elf());

  // Constructors and destructors have two names each for the same code.
  std::istringstream lines(OutputOf("nm -S --defined-only '" + path + "'"));
  std::string line;
  std::map<std::pair<uint64_t, uint64_t>, std::set<std::string>> names;
  while (std::getline(lines, line)) {
    std::istringstream fields(line);
    uint64_t begin = 0;
    uint64_t size = 0;
    std::string type;
    std::string name;
    if (fields >> std::hex >> begin >> size >> type >> name && (type == "T" || type == "t" || type == "W")) {
      names[{begin, size}].insert(name);
    }
  }
  EXPECT_GT(names.size(), 15u);
  for (const auto& [range, expected] : names) {
    const auto [begin, size] = range;
    const std::string name(table.NameOf(begin));
    EXPECT_EQ(expected.count(name), 1u) << name << " at " << begin;
    EXPECT_EQ(table.NameOf(begin + size - 1), name);
    EXPECT_NE(table.NameOf(begin + size), name) << "beyond its end";
  }
}

TEST(SymbolTableTest, AGlobalNameIsPreferred) {
  std::unique_ptr<ElfFile> file = ElfFile::Open(FixturePath("libshapes.so"));
  SymbolTable table(file->elf());
  std::istringstream fields(OutputOf("nm '" + FixturePath("libshapes.so") + "' | grep ' T CounterAlias$'"));
  uint64_t address = 0;
  ASSERT_TRUE(fields >> std::hex >> address);
  EXPECT_EQ(table.NameOf(address), "CounterAlias");
}

TEST(SymbolTableTest, NothingOutsideOfFunctions) {
  std::unique_ptr<ElfFile> file = ElfFile::Open(FixturePath("shapes"));
  SymbolTable table(file->elf());
  EXPECT_FALSE(table.empty());
  EXPECT_EQ(table.NameOf(0), "");
  EXPECT_EQ(table.NameOf(UINT64_MAX), "");
}

}  // namespace
}  // namespace vramtrack
