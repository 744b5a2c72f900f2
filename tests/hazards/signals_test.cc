// SPDX-License-Identifier: Apache-2.0
//
// Signals at any moment: handlers that allocate and free, and the end.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

TEST(SignalsTest, AHandlerMayAllocateAndFree) {
  const std::string counts = NewTestFolder() + "/counts";
  const RunResult run = ExpectUnharmed({"",
                                        "signal_handler_allocates",
                                        {counts},
                                        {.allocations = Expected::kAny,
                                         .frees = Expected::kAny,
                                         .unknown_frees = Expected::kAny,
                                         .live = Expected::kAny}});
  ASSERT_EQ(run.traces.size(), 1u);
  uint64_t allocations = 0, frees = 0;
  std::ifstream(counts) >> allocations >> frees;
  const TraceCounts recorded = Count(run.traces[0]);
  const auto of = [&](schema::Operation operation) {
    const auto found = recorded.operations.find(operation);
    return found == recorded.operations.end() ? 0 : found->second;
  };
  // What a handler does inside a hook is passed through, and counted where that can be told.
  EXPECT_LE(of(schema::ALLOCATE), allocations);
  EXPECT_GE(of(schema::ALLOCATE), allocations - allocations / 10);
  EXPECT_LE(of(schema::FREE) + of(schema::FREE_UNKNOWN), frees + allocations / 10);
  EXPECT_GE(of(schema::FREE) + of(schema::FREE_UNKNOWN), frees - frees / 10);
}

TEST(SignalsTest, ThatEndTheProcessAtAnyMomentLeaveAWholeTrace) {
  std::mt19937 random(7);
  uint64_t most = 0;
  for (int i = 0; i < 20; ++i) {
    const int signal = i % 2 == 0 ? SIGTERM : SIGABRT;
    RunOptions options;
    const auto delay = std::chrono::microseconds(2000 + random() % 30000);
    options.while_running = [&](pid_t pid) {
      std::this_thread::sleep_for(delay);
      kill(pid, signal);
    };
    const RunResult run = RunProgram("pairs", {"100000000"}, options);
    EXPECT_EQ(WTERMSIG(run.wait_status), signal);
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(run.err, "");
    for (const std::string& trace : run.traces) {
      const int first_byte = std::ifstream(trace).peek();
      if (first_byte == EOF || first_byte == 0) continue;  // ended before there was a header
      const TraceCounts counts = Count(trace);
      EXPECT_EQ(counts.unreadable_events, 0u);
      EXPECT_EQ(counts.lost_events, 0u);
      EXPECT_FALSE(counts.finished);
      for (const auto& [operation, count] : counts.operations) {
        EXPECT_TRUE(operation == schema::ALLOCATE || operation == schema::FREE) << operation;
        most = std::max(most, count);
      }
    }
  }
  EXPECT_GT(most, 1000u);
}

}  // namespace
}  // namespace vramtrack
