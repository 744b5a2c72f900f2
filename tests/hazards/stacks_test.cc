// SPDX-License-Identifier: Apache-2.0
//
// Programs that leave their stack in unusual ways, or have several, or frames that nothing describes.
#include <gtest/gtest.h>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

class StacksTest : public ::testing::TestWithParam<Hazard> {};

TEST_P(StacksTest, AreUnharmedAndNothingIsLost) { ExpectUnharmed(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    All, StacksTest,
    ::testing::Values(Hazard{"longjmp_over_frames", "longjmp_over_frames", {}, {.allocations = 5001, .frees = 5001}},
                      Hazard{"alternate_stack", "alternate_stack", {}, {.allocations = 1204, .frees = 1204}},
                      Hazard{"coroutines", "coroutines", {}, {.allocations = 805, .frees = 805}},
                      Hazard{"switched_stacks", "switched_stacks", {}, {.allocations = 50, .frees = 50}},
                      Hazard{"jit_code", "jit_code", {}, {.allocations = 226, .frees = 226}},
                      Hazard{"stack_overflow",
                             "stack_overflow",
                             {},
                             {.allocations = Expected::kAny, .frees = Expected::kAny, .live = Expected::kAny}}),
    [](const auto& info) { return info.param.name; });

TEST(StacksTest, AThreadThatStandsStillAnywhereIsNotWaitedForLong) {
  Hazard hazard{"",
                "stopped_world",
                {},
                {.allocations = Expected::kAny,
                 .frees = Expected::kAny,
                 .unknown_frees = Expected::kAny,
                 .live = Expected::kAny,
                 .lost = Expected::kAny}};
  hazard.options.limit_s = 200;
  ExpectUnharmed(hazard);
}

TEST(StacksTest, ExceptionsInAProgramThatIsC) {
  const RunResult run = ExpectUnharmed(
      {"", "exceptions_in_c_program", {DataPath(getenv("THROWER"))}, {.allocations = 1376, .frees = 1376}});
  EXPECT_NE(run.out.find("_Unwind_RaiseException is of libgcc_s.so.1"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("unw_backtrace is nobody's"), std::string::npos) << run.out;
}

}  // namespace
}  // namespace vramtrack
