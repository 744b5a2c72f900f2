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

// VRAMTRACK_TEST_KILLS is for a longer test.
int Kills() {
  const char* kills = getenv("VRAMTRACK_TEST_KILLS");
  return kills != nullptr ? atoi(kills) : 40;
}

uint64_t CallsThatReturned(const std::string& counter, int threads) {
  std::vector<uint64_t> calls(static_cast<size_t>(threads));
  const int fd = open(counter.c_str(), O_RDONLY);
  if (fd >= 0) {
    const size_t bytes = calls.size() * sizeof calls[0];
    EXPECT_EQ(pread(fd, calls.data(), bytes, 0), static_cast<ssize_t>(bytes));
    close(fd);
  }
  uint64_t sum = 0;
  for (const uint64_t c : calls) sum += c;
  return sum;
}

struct Worst {
  uint64_t events = 0, generation = 0;
};

Worst KillOften(int threads, int most_microseconds, const RunOptions& run_options) {
  std::mt19937 random(20);
  const std::string counter = std::string(getenv("TEST_TMPDIR") != nullptr ? getenv("TEST_TMPDIR") : "/tmp") + "/calls";
  Worst worst;
  for (int i = 0; i < Kills(); ++i) {
    SCOPED_TRACE(i);
    unlink(counter.c_str());
    RunOptions options = run_options;
    const auto delay = std::chrono::microseconds(500 + random() % static_cast<unsigned>(most_microseconds));
    options.while_running = [&](pid_t pid) {
      std::this_thread::sleep_for(delay);
      kill(pid, SIGKILL);
    };
    const RunResult run = RunProgram("counted_allocations", {counter, std::to_string(threads), "0", "512"}, options);
    EXPECT_TRUE(WIFSIGNALED(run.wait_status));
    if (run.traces.empty()) continue;  // killed before its first call
    const uint64_t returned = access(counter.c_str(), R_OK) == 0 ? CallsThatReturned(counter, threads) : 0;
    if (returned == 0) continue;
    TraceCounts counts = Count(run.traces[0]);
    uint64_t events = 0;
    for (const auto& [operation, n] : counts.operations) {
      EXPECT_TRUE(operation == schema::ALLOCATE || operation == schema::FREE) << operation;
      events += n;
    }
    // An event is recorded before the call returns (or, a free, before it is made) and counted after it returned. The
    // context that the first call makes is an allocation, too.
    EXPECT_GE(events, returned);
    EXPECT_LE(events, returned + static_cast<uint64_t>(threads) + 1);
    uint64_t live = 0;
    for (const auto& [kind, objects] : counts.live_objects) live += objects;
    EXPECT_EQ(live + counts.operations[schema::FREE], counts.operations[schema::ALLOCATE]);
    EXPECT_EQ(counts.lost_events, 0u);
    EXPECT_EQ(counts.unreadable_events, 0u);
    EXPECT_FALSE(counts.finished);
    worst.events = std::max(worst.events, events);
    worst.generation = std::max(worst.generation, counts.generation);
    unlink(run.traces[0].c_str());
  }
  return worst;
}

TEST(SurvivesSigkillTest, AtAnyMoment) {
  EXPECT_GT(KillOften(4, 60000, {}).events, 10000u) << "the kills came too early to say anything";
}

TEST(SurvivesSigkillTest, AtAnyMomentOfATraceOfBoundedSize) {
  RunOptions options;
  options.environment["VRAMTRACK_MAX_BYTES"] = "420K";
  const Worst worst = KillOften(2, 150000, options);
  EXPECT_GE(worst.generation, 1u) << "no block was given up before a kill";
}

}  // namespace
}  // namespace vramtrack
