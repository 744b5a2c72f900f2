// SPDX-License-Identifier: Apache-2.0
//
// Programs that end in unusual ways, or call CUDA while they end.
#include <gtest/gtest.h>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

class EndsTest : public ::testing::TestWithParam<Hazard> {};

TEST_P(EndsTest, AreUnharmedAndTheTraceIsWhole) { ExpectUnharmed(GetParam()); }

Hazard AmongThreads(const std::string& way, bool normal) {
  return {way + "_among_threads",
          "exit_among_threads",
          {way},
          {.finished = normal,
           .allocations = Expected::kAny,
           .frees = Expected::kAny,
           .failures = Expected::kAny,
           .live = Expected::kAny}};
}

INSTANTIATE_TEST_SUITE_P(
    All, EndsTest,
    ::testing::Values(
        AmongThreads("return", true), AmongThreads("exit", true), AmongThreads("_exit", false),
        AmongThreads("quick_exit", false), AmongThreads("abort", false),
        Hazard{"pthread_exit_of_main", "pthread_exit_of_main", {}, {.allocations = 4010, .frees = 4010}},
        Hazard{"static_destructors", "static_destructors", {}, {.allocations = 8, .frees = 8}},
        Hazard{"quick_exit_handlers", "quick_exit_handlers", {}, {.finished = 0, .allocations = 15, .frees = 15}}),
    [](const auto& info) { return info.param.name; });

TEST(EndsTest, CallsThatFailAtExitBecauseTheRuntimeIsGone) {
  Hazard hazard{"", "calls_at_exit", {}, {.allocations = 3, .frees = 0, .failures = 1, .live = 3}};
  hazard.options.preload_after = {DataPath(getenv("UNLOADING_RUNTIME"))};
  const RunResult run = ExpectUnharmed(hazard);
  EXPECT_EQ(run.out, "free: 4\nfree: 4\nfree: 4\nallocate: 4\n");
}

}  // namespace
}  // namespace vramtrack
