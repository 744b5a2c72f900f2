// SPDX-License-Identifier: Apache-2.0
//
// Millions of events from many threads at once, while the process forks: none is lost.
#include <gtest/gtest.h>

#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr int kForks = 30;

void RunStorm(const RunOptions& options) {
  const RunResult run = RunProgram("event_storm", {"16", "120000", std::to_string(kForks)}, options);
  ASSERT_EQ(run.wait_status, 0) << run.err;
  EXPECT_EQ(run.err, "");
  const uint64_t calls = strtoull(run.out.c_str(), nullptr, 10);
  ASSERT_EQ(calls, 16u * 120000u * 2u);
  EXPECT_EQ(run.traces.size(), kForks + 1u);
  uint64_t parents = 0, children = 0;
  for (const std::string& path : run.traces) {
    const TraceCounts counts = Count(path);
    EXPECT_EQ(counts.lost_events, 0u) << path;
    EXPECT_EQ(counts.unreadable_events, 0u) << path;
    if (!counts.finished) {  // a child's: it ends with _exit, and CUDA does not work there
      EXPECT_EQ(counts.operations, (std::map<uint32_t, uint64_t>{{schema::FAIL, 100}}));
      ++children;
      continue;
    }
    // And the context, which is there until the end.
    const uint64_t contexts =
        counts.live_objects.count(schema::CONTEXT) != 0 ? counts.live_objects.at(schema::CONTEXT) : 0;
    EXPECT_EQ(counts.operations.at(schema::ALLOCATE), calls / 2 + contexts);
    EXPECT_EQ(counts.operations.at(schema::FREE), calls / 2);
    EXPECT_EQ(counts.operations.size(), 2u);
    ++parents;
  }
  EXPECT_EQ(children, static_cast<uint64_t>(kForks));
  EXPECT_EQ(parents, 1u);
}

TEST(NothingLostTest, OfMillionsOfEventsFromSixteenThreads) { RunStorm({}); }

TEST(NothingLostTest, OfMillionsOfEventsInATraceOfBoundedSize) {
  RunOptions options;
  options.environment["VRAMTRACK_MAX_BYTES"] = "3M";
  RunStorm(options);
}

}  // namespace
}  // namespace vramtrack
