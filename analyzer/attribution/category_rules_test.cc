// SPDX-License-Identifier: Apache-2.0
#include "analyzer/attribution/category.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"

namespace vramtrack {
namespace {

ReportFrame Frame(const std::string& function, const std::string& file, const std::string& module = "") {
  ReportFrame frame;
  frame.function = function;
  frame.file = file;
  frame.module = module;
  return frame;
}

std::string NameOf(const CategoryRules& rules, const std::vector<ReportFrame>& frames) {
  const std::optional<Category> category = rules.Match(frames);
  return category ? rules.Name(*category) : "";
}

CategoryRules Rules(const std::string& text) {
  const absl::StatusOr<CategoryRules> rules = ParseCategoryRules(text, "c.toml");
  EXPECT_TRUE(rules.ok()) << rules.status();
  return rules.ok() ? *rules : CategoryRules();
}

std::string Mistake(const std::string& text) {
  return std::string(ParseCategoryRules(text, "c.toml").status().message());
}

const char kSite[] = "/env/lib/python3.12/site-packages/";

TEST(CategoryFile, TheExampleNamesMemory) {
  std::ifstream file("docs/categories.example.toml");
  std::stringstream text;
  text << file.rdbuf();
  const CategoryRules rules = Rules(text.str());
  EXPECT_EQ(rules.count(), kCategories + 3) << "parameters are a category already";
  const ReportFrame cache = Frame("DynamicLayer.update", absl::StrCat(kSite, "transformers/cache_utils.py"));
  const ReportFrame job = Frame("serve", "/job/serve.py");
  EXPECT_EQ(NameOf(rules, {cache, job}), "kv cache");
  EXPECT_EQ(NameOf(rules, {job}), "");
  const std::string runner = absl::StrCat(kSite, "vllm/v1/worker/gpu_model_runner.py");
  EXPECT_EQ(NameOf(rules, {Frame("GPUModelRunner._allocate_kv_cache_tensors", runner)}), "kv cache");
  EXPECT_EQ(NameOf(rules, {Frame("GPUModelRunner._dummy_run", runner)}), "") << "all patterns of a rule must match";
  const ReportFrame weights = Frame("load", "/job/serving/load_weights.py"), draft = Frame("load_draft_model", "/x.py");
  EXPECT_EQ(NameOf(rules, {weights, job}), "parameters");
  EXPECT_EQ(NameOf(rules, {weights, draft, job}), "draft model") << "the order of the rules counts, not of the frames";
  EXPECT_EQ(NameOf(rules, {draft, weights, job}), "draft model");
  EXPECT_EQ(NameOf(rules, {Frame("", "", "/opt/libvision-2.so")}), "image encoder");
  ReportFrame forward = cache;
  forward.forward = true;
  EXPECT_EQ(NameOf(rules, {forward, job}), "") << "a gradient is not what its forward pass allocates";
}

TEST(CategoryFile, TheRuleReplacesWhatTheStackAndLifetimeTell) {
  const CategoryRules rules = Rules("[[category]]\nname = \"weights\"\nfile = \"load.py\"\n");
  Purpose purpose;
  purpose.category = purpose.inferred = Category::kParameters;
  purpose.evidence = PurposeEvidence::kStack;
  purpose.confidence = 0.9;
  Purpose same = purpose;
  rules.Apply({Frame("main", "/job/serve.py")}, &same);
  EXPECT_EQ(same.category, Category::kParameters);
  EXPECT_EQ(same.evidence, PurposeEvidence::kStack);
  rules.Apply({Frame("main", "/job/load.py")}, &purpose);
  EXPECT_EQ(rules.Name(purpose.category), "weights");
  EXPECT_EQ(purpose.inferred, Category::kParameters) << "the sizes of parameters show which memory is optimizer state";
  EXPECT_EQ(purpose.evidence, PurposeEvidence::kRule);
  EXPECT_EQ(purpose.confidence, 1);
  EXPECT_STREQ(EvidenceName(purpose.evidence), "rule");
}

TEST(CategoryFile, APatternFitsFromAnyFolderOn) {
  const CategoryRules rules = Rules("[[category]]\nname = \"x\"\nfile = \"serving/*\"\n");
  EXPECT_EQ(NameOf(rules, {Frame("f", "/a/serving/b/c.py")}), "x");
  EXPECT_EQ(NameOf(rules, {Frame("f", "serving/c.py")}), "x");
  EXPECT_EQ(NameOf(rules, {Frame("f", "/a/observing/c.py")}), "");
  EXPECT_EQ(NameOf(rules, {Frame("f", "")}), "");
}

TEST(CategoryFile, MistakesAreOneLine) {
  const std::string file = "file = \"a.py\"\n";
  EXPECT_EQ(Mistake("[[category]]\nname = \"a\"\nfil = \"b\"\n"),
            "c.toml:3: unknown key 'fil' in [[category]] (expected name, function, file or library)");
  EXPECT_EQ(Mistake("[[categry]]\nname = \"a\"\n"),
            "c.toml:1: unknown key 'categry' in the file (expected [[category]])");
  EXPECT_EQ(Mistake("category = 1\n"), "c.toml:1: category: not a list of tables (write [[category]])");
  EXPECT_EQ(Mistake("[category]\nname = \"a\"\n"), "c.toml:1: category: not a list of tables (write [[category]])");
  EXPECT_EQ(Mistake("\n[[category]]\n" + file), "c.toml:2: [[category]]: name is missing");
  EXPECT_EQ(Mistake("[[category]]\nname = \"a\"\n"),
            "c.toml:1: [[category]]: one of function, file and library is needed");
  EXPECT_EQ(Mistake("[[category]]\nname = 5\n" + file), "c.toml:2: name: expected a string that is not empty");
  EXPECT_EQ(Mistake("[[category]]\nname = \"a\"\nfile = [\"a\"]\n"),
            "c.toml:3: file: expected a string that is not empty");
  const auto named = [&file](const std::string& name) {
    return Mistake(absl::StrCat("[[category]]\nname = \"", name, "\"\n", file));
  };
  EXPECT_EQ(named("a\\u001bb"),
            "c.toml:2: invalid name 'a\\x1bb' (expected printable text without ; and without spaces at its ends)");
  EXPECT_EQ(named("a;b"),
            "c.toml:2: invalid name 'a;b' (expected printable text without ; and without spaces at its ends)");
  EXPECT_EQ(named(std::string(41, 'a')),
            absl::StrCat("c.toml:2: invalid name '", std::string(41, 'a'), "' (expected 1 to 40 bytes)"));
  EXPECT_EQ(named("segment"),
            "c.toml:2: invalid name 'segment' (expected a name that reports do not use for something else)");
  EXPECT_EQ(named("größe").find("c.toml"), std::string::npos);
  EXPECT_EQ(Mistake("[[category]\n").substr(0, 9), "c.toml:1:");
}

TEST(CategoryFile, HasLimits) {
  std::string names, rules;
  for (int i = 0; i < 90; ++i) absl::StrAppend(&names, "[[category]]\nname = \"c", i, "\"\nfile = \"a.py\"\n");
  EXPECT_EQ(Mistake(names), "c.toml:269: too many names (expected at most 89)");
  for (int i = 0; i < 501; ++i) absl::StrAppend(&rules, "[[category]]\nname = \"c\"\nfile = \"a.py\"\n");
  EXPECT_EQ(Mistake(rules), "c.toml:1501: too many rules (expected at most 500)");
}

}  // namespace
}  // namespace vramtrack
