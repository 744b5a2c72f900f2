// SPDX-License-Identifier: Apache-2.0
//
// Programs that load and unload, and other libraries that replace what everybody uses.
#include <gtest/gtest.h>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

class LoadingTest : public ::testing::TestWithParam<Hazard> {};

TEST_P(LoadingTest, IsUnharmedAndNothingIsLost) { ExpectUnharmed(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    All, LoadingTest,
    ::testing::Values(Hazard{"dlopen_loop",
                             "dlopen_loop",
                             {DataPath(getenv("LOADED_LIBRARIES")) + "/libloaded_a.so",
                              DataPath(getenv("LOADED_LIBRARIES")) + "/libloaded_b.so"},
                             {.allocations = Expected::kAny, .frees = Expected::kAny}},
                      Hazard{"own_dlsym", "own_dlsym", {}, {.allocations = 101, .frees = 101}},
                      Hazard{"own_malloc", "own_malloc", {}, {.allocations = Expected::kAny, .live = Expected::kAny}}),
    [](const auto& info) { return info.param.name; });

class BesideOthersTest : public ::testing::TestWithParam<std::tuple<std::string, bool>> {};

std::string OtherLibrary(const std::string& name) {
  if (name == "other_interposer") return DataPath(getenv("LOADED_LIBRARIES")) + "/libother_interposer.so";
  for (const char* folder : {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib/"}) {
    const std::string path = folder + name;
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

TEST_P(BesideOthersTest, InEitherOrder) {
  const auto& [name, first] = GetParam();
  const std::string library = OtherLibrary(name);
  if (library.empty()) GTEST_SKIP() << name << " is not installed";
  Hazard hazard{"", "heap_beside_device", {}, {.allocations = 800, .frees = 800}};
  (first ? hazard.options.preload_before : hazard.options.preload_after).push_back(library);
  ExpectUnharmed(hazard);
}

INSTANTIATE_TEST_SUITE_P(All, BesideOthersTest,
                         ::testing::Combine(::testing::Values("other_interposer", "libjemalloc.so.2",
                                                              "libtcmalloc_minimal.so.4"),
                                            ::testing::Bool()),
                         [](const auto& info) {
                           std::string name = std::get<0>(info.param);
                           for (char& c : name) c = isalnum(c) ? c : '_';
                           return name + (std::get<1>(info.param) ? "_first" : "_last");
                         });

// 20 ranges, each with memory and a mapping, of which the last two go and come five times; half of all is freed.
TEST(LoadingTest, MemorySaverIsSeenAsWhatItDoesInEitherOrder) {
  for (const bool first : {false, true}) {
    SCOPED_TRACE(first ? "first" : "last");
    Hazard hazard{"", "paused_memory", {}, {.allocations = 60 + 200, .frees = 200 + 30, .live = 30}};
    const std::string library = DataPath(getenv("LOADED_LIBRARIES")) + "/libmemory_saver.so";
    (first ? hazard.options.preload_before : hazard.options.preload_after).push_back(library);
    const RunResult traced = ExpectUnharmed(hazard);
    EXPECT_EQ(traced.out.substr(traced.out.rfind('\n', traced.out.size() - 2) + 1), "40\n");
  }
}

TEST(LoadingTest, ManyLibrariesOfWhichEveryOtherOneGoes) {
  constexpr uint64_t kLibraries = 200;
  ExpectUnharmed(
      {"",
       "many_libraries",
       {std::to_string(kLibraries), DataPath(getenv("LOADED_LIBRARIES")) + "/libloaded_a.so", NewTestFolder()},
       {.allocations = 4 * kLibraries, .frees = 4 * kLibraries}});
}

}  // namespace
}  // namespace vramtrack
