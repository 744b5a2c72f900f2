// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/options.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

namespace transformer {
namespace {

struct Parsed {
  bool ok;
  Options options;
  std::string error;
};

Parsed Parse(Program program, std::initializer_list<const char*> arguments) {
  std::vector<std::string> words = {"program"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  Parsed parsed;
  parsed.ok = ParseOptions(program, static_cast<int>(words.size()), argv.data(), &parsed.options, &parsed.error);
  return parsed;
}

TEST(OptionsTest, ReadsNumbersInBothSpellings) {
  const Parsed parsed = Parse(Program::kTrain, {"--steps=7", "--dim", "96", "--heads=3", "--step-delay-us=250",
                                                "--leak-every=4", "--leak-onset=9", "--seed=0", "--device=1"});
  ASSERT_TRUE(parsed.ok) << parsed.error;
  EXPECT_EQ(parsed.options.steps, 7u);
  EXPECT_EQ(parsed.options.config.dim, 96);
  EXPECT_EQ(parsed.options.config.heads, 3);
  EXPECT_EQ(parsed.options.step_delay_us, 250);
  EXPECT_EQ(parsed.options.leak_every, 4u);
  EXPECT_EQ(parsed.options.leak_onset, 9u);
  EXPECT_EQ(parsed.options.seed, 0u);
  EXPECT_EQ(parsed.options.device, 1);
}

TEST(OptionsTest, ReadsSwitches) {
  const Parsed parsed = Parse(Program::kTrain, {"--no-step-marks", "--teardown", "--check", "--verbose"});
  ASSERT_TRUE(parsed.ok) << parsed.error;
  EXPECT_FALSE(parsed.options.step_marks);
  EXPECT_TRUE(parsed.options.teardown);
  EXPECT_TRUE(parsed.options.check);
  EXPECT_TRUE(parsed.options.verbose);
}

TEST(OptionsTest, LeaksMayBeRepeatedAndListed) {
  const Parsed parsed = Parse(Program::kTrain, {"--leak=loss-graph,workspace", "--leak", "workspace"});
  ASSERT_TRUE(parsed.ok) << parsed.error;
  EXPECT_EQ(parsed.options.leaks, (std::vector<Leak>{Leak::kLossGraph, Leak::kWorkspace}));
}

TEST(OptionsTest, EveryLeakHasAProgram) {
  for (Leak leak : AllLeaks()) {
    const std::string option = std::string("--leak=") + LeakName(leak);
    EXPECT_TRUE(Parse(Program::kTrain, {option.c_str()}).ok || Parse(Program::kGenerate, {option.c_str()}).ok)
        << option;
  }
}

TEST(OptionsTest, HelpNamesEveryOptionLeakAndControl) {
  const std::string help = HelpText(Program::kTrain) + HelpText(Program::kGenerate);
  for (const char* option : {"--steps", "--layers", "--dim", "--heads", "--vocab", "--batch", "--seq", "--seed",
                             "--device", "--step-delay-us", "--leak", "--leak-every", "--leak-onset", "--control",
                             "--no-step-marks", "--teardown", "--check", "--verbose", "--help"}) {
    EXPECT_NE(help.find(option), std::string::npos) << option;
  }
  for (Leak leak : AllLeaks()) EXPECT_NE(help.find(LeakName(leak)), std::string::npos) << LeakName(leak);
  for (Control control : ControlsOf(Program::kTrain)) {
    EXPECT_NE(help.find(ControlName(control)), std::string::npos) << ControlName(control);
  }
}

struct Mistake {
  const char* option;
  const char* named;  // what the message must name
};

TEST(OptionsTest, AMistakeIsNamedInOneLine) {
  for (const Mistake& mistake : {Mistake{"--nonsense", "--nonsense"},
                                 {"-x", "-x"},
                                 {"--steps", "--steps"},
                                 {"--steps=", "--steps"},
                                 {"--steps=0", "--steps"},
                                 {"--steps=3x", "3x"},
                                 {"--steps=99999999999999999999", "--steps"},
                                 {"--dim=-8", "-8"},
                                 {"--leak=nonsense", "nonsense"},
                                 {"--leak=", "--leak"},
                                 {"--leak=workspace,x", "'x'"},
                                 {"--leak=kv-cache", "kv-cache"},
                                 {"--control=nonsense", "nonsense"},
                                 {"--verbose=1", "--verbose"},
                                 {"extra", "extra"},
                                 {"--heads=3", "--heads"}}) {
    const Parsed parsed = Parse(Program::kTrain, {mistake.option});
    EXPECT_FALSE(parsed.ok) << mistake.option;
    EXPECT_NE(parsed.error.find(mistake.named), std::string::npos) << mistake.option << ": " << parsed.error;
    EXPECT_EQ(parsed.error.find('\n'), std::string::npos) << parsed.error;
  }
}

}  // namespace
}  // namespace transformer
