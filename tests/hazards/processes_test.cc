// SPDX-License-Identifier: Apache-2.0
//
// Programs that become several, in every way there is: each process has its own trace and its own events.
#include <gtest/gtest.h>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

class ProcessesTest : public ::testing::TestWithParam<Hazard> {};

TEST_P(ProcessesTest, AreUnharmedAndRecordTheirOwn) { ExpectUnharmed(GetParam()); }

Hazard ForkAndExec(const std::string& way) {
  return {way, "fork_and_exec", {way}, {.processes = 2, .finished = 2, .allocations = 25, .frees = 25}};
}

constexpr uint64_t kStormRounds = 150;
constexpr Expected kForksWithoutExec = {
    .processes = 6, .finished = 5, .allocations = 111, .frees = 111, .failures = 3, .unknown_frees = 1};

INSTANTIATE_TEST_SUITE_P(
    All, ProcessesTest,
    ::testing::Values(
        Hazard{"fork_without_exec", "fork_without_exec", {}, kForksWithoutExec}, ForkAndExec("fork"),
        ForkAndExec("vfork"), ForkAndExec("posix_spawn"), ForkAndExec("system"), ForkAndExec("popen"),
        Hazard{"vfork_that_fails", "fork_and_exec", {"vfork_that_fails"}, {.allocations = 20, .frees = 20}},
        Hazard{"daemon_before_the_first_call", "daemon_process", {"after"}, {.allocations = 1, .frees = 1}},
        Hazard{"daemon_after_the_first_call",
               "daemon_process",
               {"before"},
               {.processes = 2, .finished = 1, .allocations = 10, .frees = 10, .failures = 1}},
        Hazard{"double_fork", "double_fork", {}, {.processes = 2, .finished = 2, .allocations = 30, .frees = 30}},
        Hazard{"fork_storm",
               "fork_storm",
               {std::to_string(kStormRounds)},
               {.processes = kStormRounds + 1,
                .finished = 1,
                .allocations = Expected::kAny,
                .frees = Expected::kAny,
                .failures = 3 * kStormRounds}},
        Hazard{"cleaned_environment", "cleaned_environment", {}, {.allocations = 20, .frees = 20}},
        Hazard{"closes_descriptors", "closes_descriptors", {}, {.allocations = 50100, .frees = 50100}}),
    [](const auto& info) { return info.param.name; });

// As qemu 7 does: a child has all memory of its parent, and so its session and its file.
TEST(ProcessesTest, ChildrenHaveTheirOwnTraceWhereAdviceAboutMemoryIsIgnored) {
  RunOptions options;
  options.preload_before = {DataPath(getenv("LOADED_LIBRARIES")) + "/libignored_advice.so"};
  ExpectUnharmed({"fork_without_exec", "fork_without_exec", {}, kForksWithoutExec, options});
}

}  // namespace
}  // namespace vramtrack
