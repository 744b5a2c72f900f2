// SPDX-License-Identifier: Apache-2.0
//
// A process killed at any moment leaves everything that it had done in its trace: per thread at most the call in flight
// is missing, and no event is wrong.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <thread>

#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr int kThreads = 4;
constexpr int kKills = 40;

uint64_t CallsThatReturned(const std::string& counter) {
  uint64_t calls[kThreads] = {};
  const int fd = open(counter.c_str(), O_RDONLY);
  if (fd >= 0) {
    EXPECT_EQ(pread(fd, calls, sizeof calls, 0), static_cast<ssize_t>(sizeof calls));
    close(fd);
  }
  uint64_t sum = 0;
  for (const uint64_t c : calls) sum += c;
  return sum;
}

TEST(SurvivesSigkillTest, AtAnyMoment) {
  std::mt19937 random(20);
  const std::string counter = std::string(getenv("TEST_TMPDIR") != nullptr ? getenv("TEST_TMPDIR") : "/tmp") + "/calls";
  uint64_t most = 0;
  for (int i = 0; i < kKills; ++i) {
    unlink(counter.c_str());
    RunOptions options;
    const auto delay = std::chrono::microseconds(500 + random() % 60000);
    options.while_running = [&](pid_t pid) {
      std::this_thread::sleep_for(delay);
      kill(pid, SIGKILL);
    };
    const RunResult run = RunProgram("counted_allocations", {counter, std::to_string(kThreads), "0"}, options);
    ASSERT_TRUE(WIFSIGNALED(run.wait_status));
    if (run.traces.empty()) continue;  // killed before its first call
    const uint64_t returned = access(counter.c_str(), R_OK) == 0 ? CallsThatReturned(counter) : 0;
    if (returned == 0) continue;
    const TraceCounts counts = Count(run.traces[0]);
    uint64_t events = 0;
    for (const auto& [operation, n] : counts.operations) {
      EXPECT_TRUE(operation == schema::ALLOCATE || operation == schema::FREE) << operation;
      events += n;
    }
    // An event is recorded before the call returns (or, a free, before it is made) and counted after it returned.
    EXPECT_GE(events, returned);
    EXPECT_LE(events, returned + kThreads);
    EXPECT_EQ(counts.lost_events, 0u);
    EXPECT_EQ(counts.unreadable_events, 0u);
    EXPECT_FALSE(counts.finished);
    most = std::max(most, events);
  }
  EXPECT_GT(most, 10000u) << "the kills came too early to say anything";
}

}  // namespace
}  // namespace vramtrack
