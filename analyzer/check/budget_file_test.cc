// SPDX-License-Identifier: Apache-2.0
#include "analyzer/check/limits.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace vramtrack {
namespace {

std::string Mistake(const std::string& text) {
  const absl::StatusOr<Budgets> budgets = ParseBudgets(text, "b.toml");
  EXPECT_FALSE(budgets.ok()) << text;
  return budgets.ok() ? "" : std::string(budgets.status().message());
}

std::string Example() {
  // As the test's data: see BUILD.bazel.
  std::ifstream file("docs/budgets.example.toml");
  EXPECT_TRUE(file.good());
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(BudgetFile, TheExampleHasEverything) {
  const absl::StatusOr<Budgets> budgets = ParseBudgets(Example(), "example.toml");
  ASSERT_TRUE(budgets.ok()) << budgets.status();
  for (const LimitKind& kind : kLimitKinds) EXPECT_TRUE(budgets->job.*kind.limit) << kind.key;
  EXPECT_EQ(budgets->job.leak->value, 16384);
  EXPECT_EQ(budgets->job.peak->value, 70.0 * (1 << 30));
  EXPECT_TRUE(budgets->job.fragmentation->share);
  EXPECT_EQ(budgets->job.categories.size(), 2u);
  EXPECT_EQ(budgets->devices.at(1).peak->value, 60.0 * (1 << 30));
  EXPECT_EQ(budgets->devices.at(1).categories.at("activations").value, 30.0 * (1 << 30));
  EXPECT_FALSE(budgets->devices.at(1).reserved);
  EXPECT_EQ(budgets->ranks.at(0).peak->value, 72.0 * (1 << 30));
  ASSERT_EQ(budgets->exceptions.size(), 2u);
  EXPECT_EQ(budgets->exceptions[0].expires, absl::CivilDay(2027, 3, 31));
  EXPECT_EQ(budgets->exceptions[0].up_to->value, 1 << 20);
  EXPECT_EQ(budgets->exceptions[0].rules, std::vector<std::string>{"leak"});
  EXPECT_FALSE(budgets->exceptions[1].expires);
  EXPECT_EQ(budgets->exceptions[1].device, 0u);
}

TEST(BudgetFile, AnEmptyOneLimitsNothing) {
  for (const char* text : {"", "# nothing\n", "[budget]\n"}) {
    const absl::StatusOr<Budgets> budgets = ParseBudgets(text, "b.toml");
    ASSERT_TRUE(budgets.ok()) << budgets.status();
    for (const LimitKind& kind : kLimitKinds) EXPECT_FALSE(budgets->job.*kind.limit) << kind.key;
  }
}

TEST(BudgetFile, RemembersWhereALimitIsSet) {
  EXPECT_EQ(ParseBudgets("[budget]\n\npeak = \"5 B\"\n", "b.toml")->job.peak->place, "b.toml:3");
}

TEST(BudgetFile, NamesThePlaceOfEachMistake) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"[budget]\npek = 5\n",
       "b.toml:2: unknown key 'pek' in [budget] (expected leak, leak_objects, leak_total, peak,"},
      {"\n[bugdet]\n", "b.toml:2: unknown key 'bugdet' in the file (expected [budget], [device.N]"},
      {"[budget]\npeak = \"5 GiBs\"\n", "b.toml:2: peak: invalid size or percentage '5 GiBs'"},
      {"[budget]\npeak = \"5 GiB/step\"\n", "b.toml:2: peak: invalid size or percentage '5 GiB/step'"},
      {"[budget]\npeak = -5\n", "b.toml:2: peak: invalid size or percentage '-5'"},
      {"[budget]\npeak = nan\n", "b.toml:2: peak: invalid size or percentage 'nan'"},
      {"[budget]\npeak = 9999999999999999\n", "b.toml:2: peak: invalid size or percentage '1e+16'"},
      {"[budget]\npeak = 99999999999999999999999\n", "b.toml:2: "},
      // Bytes need a unit.
      {"[budget]\npeak = 5\n", "b.toml:2: peak: invalid size or percentage '5'"},
      {"[budget]\npeak = true\n", "b.toml:2: peak: expected a string"},
      {"[budget]\npeak = [1]\n", "b.toml:2: peak: expected a string"},
      {"[budget]\npeak = 1\npeak = 2\n", "b.toml:3: "},
      {"[budget]\npeak = 1\n[budget]\n", "b.toml:3: "},
      {"[budget]\npeak\n", "b.toml:2: "},
      {"[budget\n", "b.toml:1: "},
      {"budget = 5\n", "b.toml:1: budget: not a table (write [budget])"},
      {"[budget]\ncategories = 5\n", "b.toml:2: budget.categories: not a table"},
      {"[budget.categories]\nworkspace = \"much\"\n", "b.toml:2: workspace: invalid size 'much'"},
      {"[device.first]\npeak = 1\n", "b.toml:1: device.first: invalid number 'first'"},
      {"[device.-1]\npeak = 1\n", "b.toml:1: device.-1: invalid number '-1'"},
      {"[device.01]\npeak = 1\n", "b.toml:1: device.01: invalid number '01'"},
      {"[rank.0]\nreserved = 1\n",
       "b.toml:2: unknown key 'reserved' in [rank.0] (expected leak_total, peak or growth)"},
      {"[rank.0]\npeak = \"75 %\"\n", "b.toml:2: peak: a rank needs a size"},
      {"[rank.0]\ncategories.x = 1\n", "b.toml:2: unknown key 'categories' in [rank.0]"},
      {"exception = 5\n", "b.toml:1: exception: not a list of tables"},
      {"[exception]\nrule = \"leak\"\n", "b.toml:1: exception: not a list of tables"},
      {"[[exception]]\nrule = \"leak\"\nexpires = \"never\"\n", "b.toml:1: [[exception]]: reason is missing"},
      {"[[exception]]\nrule = \"leak\"\nreason = \"r\"\n", "b.toml:1: [[exception]]: expires is missing"},
      {"[[exception]]\nreason = \"r\"\nexpires = \"never\"\n", "b.toml:1: [[exception]]: one of site, function, file"},
      {"[[exception]]\nreason = \"\"\nexpires = \"never\"\nrule = \"leak\"\n", "b.toml:2: reason: expected a string"},
      {"[[exception]]\nreason = \"r\"\nexpires = \"2026-12-31\"\nrule = \"leak\"\n",
       "b.toml:3: expires: expected a date"},
      {"[[exception]]\nreason = \"r\"\nexpires = 2026-02-30\nrule = \"leak\"\n", "b.toml:3: "},
      {"[[exception]]\nreason = \"r\"\nexpires = 2026-12-31\nrule = \"leek\"\n",
       "b.toml:4: unknown rule 'leek' (expected leak,"},
      {"[[exception]]\nreason = \"r\"\nexpires = 2026-12-31\nsite = 5\n", "b.toml:4: site: expected a string"},
      {"[[exception]]\nreason = \"r\"\nexpires = 2026-12-31\nrule = \"leak\"\ndevice = -1\n",
       "b.toml:5: device: expected the number"},
      {"[[exception]]\nreason = \"r\"\nexpires = 2026-12-31\nrule = \"leak\"\nupto = 1\n",
       "b.toml:5: unknown key 'upto'"},
      // Of several the first.
      {"[budget]\nzzz = 1\naaa = 1\n", "b.toml:2: unknown key 'zzz'"},
      {"[budget]\n\"a\\nb\" = 1\n", "b.toml:2: unknown key 'a\\x0ab' in"},
      {"\xff\xfe", "b.toml:1: "},
  };
  for (const auto& [text, beginning] : mistakes) {
    const std::string mistake = Mistake(text);
    EXPECT_EQ(mistake.rfind(beginning, 0), 0u) << text << "gives: " << mistake;
    EXPECT_EQ(mistake.find('\n'), std::string::npos) << mistake;
  }
}

// Whatever is done to a file, it is read or there is one line that says where it is wrong.
TEST(BudgetFile, StandsDamage) {
  const std::string example = Example();
  std::mt19937 random(7);
  int refused = 0;
  for (int i = 0; i < 3000; ++i) {
    std::string text = example;
    for (size_t changes = 1 + random() % 4; changes > 0; --changes) {
      const size_t at = random() % text.size();
      switch (random() % 4) {
        case 0:
          text[at] = static_cast<char>(random());
          break;
        case 1:
          text.erase(at, random() % 20);
          break;
        case 2:
          text.insert(at, text.substr(random() % text.size(), random() % 40));
          break;
        default:
          text.insert(at, std::string(1, "[]{}=\"#\n.-9"[random() % 11]));
      }
      if (text.empty()) text = "#";
    }
    const absl::StatusOr<Budgets> budgets = ParseBudgets(text, "b.toml");
    if (budgets.ok()) continue;
    ++refused;
    const std::string mistake(budgets.status().message());
    EXPECT_EQ(mistake.rfind("b.toml:", 0), 0u) << mistake;
    EXPECT_GT(std::atoi(mistake.c_str() + 7), 0) << mistake;
    EXPECT_EQ(mistake.find('\n'), std::string::npos) << mistake;
  }
  EXPECT_GT(refused, 1000);
}

}  // namespace
}  // namespace vramtrack
