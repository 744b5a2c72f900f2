// SPDX-License-Identifier: Apache-2.0

#include "analyzer/symbols/symbolizer.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "analyzer/symbols/testing/fixture_files.h"

namespace vramtrack {
namespace {

constexpr char kShapes[] = "analyzer/symbols/fixtures/shapes.cc";

std::vector<std::string> Functions(const std::vector<Frame>& frames) {
  std::vector<std::string> names;
  for (const Frame& frame : frames) names.push_back(frame.function);
  return names;
}

// The frames of the one call that the fixture makes in the line that says `line`.
std::vector<Frame> FramesOfLine(Symbolizer& symbolizer, uint32_t line, std::string_view file) {
  for (const MarkedCall& call : MarkedCalls()) {
    std::vector<Frame> frames = symbolizer.Symbolize({FixturePath("shapes"), ""}, call.return_address, true);
    if (call.line == line && frames[0].file == file) return frames;
  }
  return {};
}

// The frames of the outermost function `function`, wherever the fixture calls from there.
std::vector<Frame> FramesIn(Symbolizer& symbolizer, const std::string& function, size_t depth = 1) {
  for (const MarkedCall& call : MarkedCalls()) {
    std::vector<Frame> frames = symbolizer.Symbolize({FixturePath("shapes"), ""}, call.return_address, true);
    if (frames.back().function == function && frames.size() == depth) return frames;
  }
  return {};
}

TEST(SymbolizerTest, EveryReturnAddressGivesTheLineOfItsCall) {
  Symbolizer symbolizer;
  const ModuleRef module{FixturePath("shapes"), RawBuildId(FixturePath("shapes"))};
  std::set<Language> languages;
  for (const MarkedCall& call : MarkedCalls()) {
    const std::vector<Frame>& frames = symbolizer.Symbolize(module, call.return_address, true);
    EXPECT_EQ(frames[0].line, call.line) << frames[0].function;
    EXPECT_EQ(frames[0].module, module.path);
    EXPECT_EQ(frames[0].offset, call.return_address);
    languages.insert(frames[0].language);
  }
  EXPECT_EQ(languages, (std::set<Language>{Language::kC, Language::kCpp, Language::kCuda}));
  EXPECT_EQ(symbolizer.Status(module).state, ModuleState::kFound);
}

TEST(SymbolizerTest, InlinedFunctionsComeInnermostFirst) {
  Symbolizer symbolizer;
  const std::vector<Frame> frames = FramesIn(symbolizer, "shapes::Layer::Forward(int)", 3);
  ASSERT_EQ(Functions(frames),
            (std::vector<std::string>{"shapes::(anonymous namespace)::InlinedLeaf",
                                      "shapes::(anonymous namespace)::InlinedMiddle", "shapes::Layer::Forward(int)"}));
  EXPECT_TRUE(frames[0].inlined);
  EXPECT_TRUE(frames[1].inlined);
  EXPECT_FALSE(frames[2].inlined);
  EXPECT_LT(frames[0].line, frames[1].line);
  EXPECT_LT(frames[1].line, frames[2].line);
  EXPECT_EQ(frames[2].file, kShapes);
}

TEST(SymbolizerTest, NamesStaticFunctionsTemplatesMethodsAndLambdas) {
  Symbolizer symbolizer;
  for (const char* function : {
           "shapes::(anonymous namespace)::Hidden(int)",
           "int shapes::(anonymous namespace)::Twice<int>(int)",
           "double shapes::(anonymous namespace)::Twice<double>(double)",
           "shapes::Layer::Forward(int)",
           "shapes::Layer::operator()(int) const",
           "shapes::WithLambdas(int)::{lambda(int)#1}::operator()(int) const",
           "shapes::Far(int)",
           "HiddenInC",
       }) {
    EXPECT_EQ(FramesIn(symbolizer, function).size(), 1u) << function;
  }
}

TEST(SymbolizerTest, ACallThatNeverReturnsIsInItsOwnFunction) {
  Symbolizer symbolizer;
  const std::vector<Frame> frames = FramesIn(symbolizer, "shapes::AlwaysFails(int)");
  ASSERT_EQ(frames.size(), 1u);
  // The test is worth something only if the return address is another function's, or nobody's.
  EXPECT_NE(symbolizer.Symbolize({FixturePath("shapes"), ""}, frames[0].offset, false).back().function,
            "shapes::AlwaysFails(int)");
}

TEST(SymbolizerTest, CudaIsTheLanguageOfCuFiles) {
  Symbolizer symbolizer;
  const std::vector<Frame> frames = FramesOfLine(symbolizer, 101, "testdata/toy/attention.cu");
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "shapes::LaunchAttention(int)");
  EXPECT_EQ(frames[0].language, Language::kCuda);
}

TEST(SymbolizerTest, CFunctionsKeepTheirNames) {
  Symbolizer symbolizer;
  const std::vector<Frame> frames = FramesIn(symbolizer, "RunCShapes", 2);
  ASSERT_EQ(Functions(frames), (std::vector<std::string>{"AddInC", "RunCShapes"}));
  EXPECT_EQ(frames[0].language, Language::kC);
  EXPECT_EQ(frames[0].file, "analyzer/symbols/fixtures/shapes_c.c");
}

// Every form of the same program gives the same frames.
class SymbolizerFormTest : public testing::TestWithParam<const char*> {};

TEST_P(SymbolizerFormTest, SaysTheSameAsTheWholeFile) {
  const ModuleRef whole{FixturePath("shapes"), ""};
  const ModuleRef other{FixturePath(GetParam()), ""};
  const auto [begin, end] = TextRange(whole.path);
  Symbolizer symbolizer;
  for (uint64_t address = begin; address < end; ++address) {
    std::vector<Frame> expected = symbolizer.Symbolize(whole, address, false);
    std::vector<Frame> frames = symbolizer.Symbolize(other, address, false);
    for (Frame& frame : frames) frame.module = whole.path;
    ASSERT_EQ(frames, expected) << "at " << address << " " << frames[0].function << " " << expected[0].function;
  }
  EXPECT_EQ(symbolizer.Status(other).state, ModuleState::kFound);
}

INSTANTIATE_TEST_SUITE_P(Forms, SymbolizerFormTest,
                         testing::Values("split/shapes", "anonymous/shapes", "without_aranges/shapes",
                                         "compressed/shapes"));

// Debug information apart from the program, in .dwo files.
class SplitDwarfTest : public testing::TestWithParam<const char*> {};

TEST_P(SplitDwarfTest, SaysTheSameAsTheWholeFileOrWhatIsMissing) {
  const std::string folder = NewFolder();
  WriteFile(folder + "/job.c", R"(
volatile int total;
static inline __attribute__((always_inline)) void Add(int value) { total += value; }
int main(void) {
  Add(1);
  Add(2);
  return 0;
}
)");
  const std::string compile = std::string("cd ") + folder + " && gcc -O2 -g " + GetParam();
  OutputOf(compile + " job.c -o job 2>&1");
  OutputOf(compile + " -gsplit-dwarf -c job.c -o job.o && mkdir split && gcc job.o -o split/job 2>&1");
  const ModuleRef whole{folder + "/job", ""}, split{folder + "/split/job", ""};
  Symbolizer with;
  const auto [begin, end] = TextRange(whole.path);
  ASSERT_EQ(TextRange(split.path), std::make_pair(begin, end));
  std::set<uint32_t> calls;
  for (uint64_t address = begin; address < end; ++address) {
    std::vector<Frame> frames = with.Symbolize(split, address, false);
    for (Frame& frame : frames) frame.module = whole.path;
    EXPECT_EQ(frames, with.Symbolize(whole, address, false)) << address;
    if (frames.size() == 2) calls.insert(frames[1].line);
  }
  EXPECT_EQ(calls, (std::set<uint32_t>{5, 6}));
  EXPECT_TRUE(with.Status(split).missing_dwo_files.empty());
  OutputOf("rm " + folder + "/job.dwo && echo gone");
  Symbolizer without;
  size_t inlined = 0;
  for (uint64_t address = begin; address < end; ++address) {
    inlined += without.Symbolize(split, address, false).size() > 1;
  }
  EXPECT_EQ(inlined, 0u);
  const std::set<std::string>& missing = without.Status(split).missing_dwo_files;
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing.begin()->substr(missing.begin()->rfind('/')), "/job.dwo");
}

TEST(SymbolizerTest, DebugInformationThatCannotBeReadIsSaid) {
  if (OutputOf("objcopy --help").find("zstd") == std::string::npos) GTEST_SKIP() << "objcopy is too old";
  const std::string path = NewFolder() + "/shapes";
  OutputOf("objcopy --compress-debug-sections=zstd " + FixturePath("shapes") + " " + path + " && echo made");
  Symbolizer symbolizer;
  bool lines = false;
  for (auto [address, end] = TextRange(path); address < end; ++address) {
    lines |= symbolizer.Symbolize({path, ""}, address, false)[0].line > 0;
  }
  // Newer releases of the library can read it.
  EXPECT_EQ(symbolizer.Status({path, ""}).unreadable_debug_info, !lines);
}

INSTANTIATE_TEST_SUITE_P(Versions, SplitDwarfTest, testing::Values("-gdwarf-4", "-gdwarf-5"));

TEST(SymbolizerTest, AnswersDoNotDependOnTheOrderOfQuestions) {
  const ModuleRef module{FixturePath("without_aranges/shapes"), ""};
  const auto [begin, end] = TextRange(module.path);
  Symbolizer forward;
  Symbolizer backward;
  for (uint64_t address = begin; address < end; ++address) forward.Symbolize(module, address, false);
  for (uint64_t address = end; address-- > begin;) backward.Symbolize(module, address, false);
  for (uint64_t address = begin; address < end; ++address) {
    ASSERT_EQ(forward.Symbolize(module, address, false), backward.Symbolize(module, address, false));
  }
}

TEST(SymbolizerTest, AnswersStayWhereTheyAre) {
  Symbolizer symbolizer;
  const ModuleRef module{FixturePath("shapes"), ""};
  const auto [begin, end] = TextRange(module.path);
  const std::vector<Frame>* first = &symbolizer.Symbolize(module, begin, false);
  for (uint64_t address = begin; address < end; ++address) symbolizer.Symbolize(module, address, false);
  EXPECT_EQ(&symbolizer.Symbolize(module, begin, false), first);
}

TEST(SymbolizerTest, AStrippedLibraryStillHasItsExportedNames) {
  Symbolizer symbolizer;
  const ModuleRef whole{FixturePath("libshapes.so"), ""};
  const ModuleRef stripped{FixturePath("stripped/libshapes.so"), ""};
  const auto [begin, end] = TextRange(whole.path);
  size_t same = 0;
  for (uint64_t address = begin; address < end; ++address) {
    const std::vector<Frame>& frames = symbolizer.Symbolize(stripped, address, false);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].line, 0u);
    EXPECT_EQ(frames[0].file, "");
    if (frames[0].function == "shapes::Layer::Forward(int)") {
      EXPECT_EQ(frames[0].language, Language::kCpp);
      ++same;
      EXPECT_EQ(symbolizer.Symbolize(whole, address, false).back().function, frames[0].function);
    }
  }
  EXPECT_GT(same, 10u);
  EXPECT_EQ(symbolizer.Status(stripped).state, ModuleState::kNoDebugInfo);
}

TEST(SymbolizerTest, AnotherBuildIsNotUsed) {
  const std::string id = RawBuildId(FixturePath("shapes"));
  const std::string path = WriteFile(NewFolder() + "/shapes", WithOtherBuildId(ReadFile(FixturePath("shapes")), id));
  Symbolizer symbolizer;
  const std::vector<Frame>& frames = symbolizer.Symbolize({path, id}, 0x1234, true);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "shapes+0x1234");
  EXPECT_EQ(frames[0].line, 0u);
  EXPECT_EQ(symbolizer.Status({path, id}).state, ModuleState::kBuildIdMismatch);
  EXPECT_EQ(symbolizer.Status({path, id}).refused_path, path);
}

TEST(SymbolizerTest, WhatIsNoFileGivesModuleAndOffset) {
  Symbolizer symbolizer;
  const std::map<std::string, std::pair<std::string, ModuleState>> cases = {
      {"/no/such/libtorch.so", {"libtorch.so+0x10", ModuleState::kMissing}},
      {"/no/such/libtorch.so (deleted)", {"libtorch.so+0x10", ModuleState::kMissing}},
      {"[vdso]", {"[vdso]+0x10", ModuleState::kNotAFile}},
      {"linux-vdso.so.1", {"linux-vdso.so.1+0x10", ModuleState::kNotAFile}},
      {"/memfd:cuda (deleted)", {"memfd:cuda+0x10", ModuleState::kNotAFile}},
      {"/dev/nvidia0", {"nvidia0+0x10", ModuleState::kNotAFile}},
      {"/dev/shm", {"shm+0x10", ModuleState::kUnreadable}},
      {"//anon", {"anon+0x10", ModuleState::kNotAFile}},
      {"", {"unknown+0x10", ModuleState::kNotAFile}},
      {std::string("a\0b", 3), {std::string("a\0b+0x10", 8), ModuleState::kNotAFile}},
      {"/", {"unknown+0x10", ModuleState::kUnreadable}},
      {"/proc/self/maps", {"maps+0x10", ModuleState::kUnreadable}},
      {"/etc/passwd", {"passwd+0x10", ModuleState::kUnreadable}},
  };
  for (const auto& [path, expected] : cases) {
    const std::vector<Frame>& frames = symbolizer.Symbolize({path, ""}, 0x10, true);
    ASSERT_EQ(frames.size(), 1u) << path;
    EXPECT_EQ(frames[0].function, expected.first) << path;
    EXPECT_EQ(frames[0].language, Language::kUnknown);
    EXPECT_EQ(symbolizer.Status({path, ""}).state, expected.second) << path;
  }
  EXPECT_EQ(symbolizer.Symbolize({"/no/such/libtorch.so (deleted)", ""}, 1, true)[0].module, "/no/such/libtorch.so");
}

TEST(SymbolizerTest, AddressesOutsideOfTheCodeGiveModuleAndOffset) {
  Symbolizer symbolizer;
  for (uint64_t address : {uint64_t{0}, uint64_t{1}, uint64_t{1} << 40, UINT64_MAX}) {
    for (bool is_return_address : {false, true}) {
      const std::vector<Frame>& frames = symbolizer.Symbolize({FixturePath("shapes"), ""}, address, is_return_address);
      ASSERT_EQ(frames.size(), 1u);
      EXPECT_EQ(frames[0].function.rfind("shapes+0x", 0), 0u) << frames[0].function;
      EXPECT_EQ(frames[0].offset, address);
      EXPECT_EQ(frames[0].line, 0u);
    }
  }
}

TEST(SymbolizerTest, TwoBuildsOfOnePathAreTwoModules) {
  const std::string id = RawBuildId(FixturePath("shapes"));
  Symbolizer symbolizer;
  symbolizer.Symbolize({FixturePath("shapes"), id}, 0x10, true);
  symbolizer.Symbolize({FixturePath("shapes"), "0000"}, 0x10, true);
  symbolizer.Symbolize({"/a/missing.so", ""}, 0x10, true);
  const std::vector<ModuleStatus> statuses = symbolizer.Statuses();
  ASSERT_EQ(statuses.size(), 3u);
  EXPECT_EQ(statuses[0].path, "/a/missing.so");
  EXPECT_EQ(statuses[1].state, ModuleState::kBuildIdMismatch);
  EXPECT_EQ(statuses[2].state, ModuleState::kFound);
  EXPECT_STREQ(ModuleStateName(statuses[2].state), "found");
  EXPECT_STREQ(ModuleStateName(statuses[1].state), "build_id_mismatch");
}

}  // namespace
}  // namespace vramtrack
