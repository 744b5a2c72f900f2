// SPDX-License-Identifier: Apache-2.0
//
// Processes that are frozen and thawed, with their files and mappings made anew (programs/frozen_and_thawed.cc).
#include <gtest/gtest.h>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

constexpr uint64_t kBefore = 120000;

struct Thawed {
  std::string way;
  bool goes_on;
};
std::ostream& operator<<(std::ostream& out, const Thawed& thawed) { return out << thawed.way; }

class CheckpointTest : public ::testing::TestWithParam<std::tuple<Thawed, bool>> {};

TEST_P(CheckpointTest, IsUnharmedAndTheTraceGoesOnOrSaysWhyNot) {
  const auto& [thawed, bounded] = GetParam();
  const uint64_t pairs = thawed.goes_on ? 2 * kBefore : kBefore;
  Hazard hazard{thawed.way,
                "frozen_and_thawed",
                {thawed.way},
                {.finished = thawed.goes_on, .allocations = pairs, .frees = pairs, .lines = !thawed.goes_on}};
  if (bounded) hazard.options.environment["VRAMTRACK_MAX_BYTES"] = "900K";
  const RunResult run = ExpectUnharmed(hazard);
  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_EQ(Count(run.traces[0]).generation > 0, bounded);
  if (!thawed.goes_on) {
    EXPECT_EQ(run.err, "vramtrack: recording stopped: the program closed the trace's file descriptor, and " +
                           run.traces[0] + " is another file now\n");
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, CheckpointTest,
    ::testing::Combine(::testing::Values(Thawed{"same", true}, Thawed{"read_only", true}, Thawed{"missing", true},
                                         Thawed{"copied", true}, Thawed{"copied_read_only", true},
                                         Thawed{"copied_missing", true}, Thawed{"copied_descriptors", false}),
                       ::testing::Bool()),
    [](const auto& info) { return std::get<0>(info.param).way + (std::get<1>(info.param) ? "_bounded" : ""); });

}  // namespace
}  // namespace vramtrack
