// SPDX-License-Identifier: Apache-2.0
//
// Programs whose threads are many, small, or call CUDA while they end.
#include <gtest/gtest.h>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

class ThreadsTest : public ::testing::TestWithParam<Hazard> {};

TEST_P(ThreadsTest, AreUnharmedAndNothingIsLost) { ExpectUnharmed(GetParam()); }

INSTANTIATE_TEST_SUITE_P(
    All, ThreadsTest,
    ::testing::Values(
        Hazard{"key_destructors", "key_destructors", {}, {.allocations = 1651, .frees = 1651}},
        Hazard{"smallest_stacks", "small_thread_stacks", {"0"}, {.allocations = 20000, .frees = 20000}},
        Hazard{"small_stacks", "small_thread_stacks", {"32768"}, {.allocations = 20000, .frees = 20000}},
        Hazard{"cancelled_threads", "cancelled_threads", {}, {.allocations = Expected::kAny, .frees = Expected::kAny}},
        Hazard{"many_live_threads", "many_live_threads", {"2000"}, {.allocations = 2000, .frees = 2000}}),
    [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace vramtrack
