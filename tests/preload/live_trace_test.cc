// SPDX-License-Identifier: Apache-2.0
//
// A trace can be read while its process writes it: everything that the process had done before is there, nothing twice,
// and nothing that it has not done.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

constexpr int kThreads = 3;
constexpr auto kReadFor = std::chrono::milliseconds(700);

std::string TestFile(const std::string& name) {
  return std::string(getenv("TEST_TMPDIR") != nullptr ? getenv("TEST_TMPDIR") : "/tmp") + "/" + name;
}

uint64_t CallsSoFar(const std::string& counter) {
  uint64_t calls[kThreads] = {};
  const int fd = open(counter.c_str(), O_RDONLY);
  if (fd < 0) return 0;
  if (pread(fd, calls, sizeof calls, 0) != static_cast<ssize_t>(sizeof calls)) calls[0] = calls[1] = calls[2] = 0;
  close(fd);
  return calls[0] + calls[1] + calls[2];
}

std::string OutputOf(const std::string& arguments, int* exit_code) {
  char here[4096];
  const std::string command =
      std::string(getcwd(here, sizeof here)) + "/" + getenv("VRAMTRACK_PROGRAM") + " " + arguments + " 2>&1";
  std::string output;
  FILE* pipe = popen(command.c_str(), "r");
  char buffer[4096];
  while (const size_t got = fread(buffer, 1, sizeof buffer, pipe)) output.append(buffer, got);
  *exit_code = WEXITSTATUS(pclose(pipe));
  return output;
}

void ReadWhileItRuns(const RunOptions& run_options, uint64_t least_generation) {
  const std::string counter = TestFile("live_calls"), path = TestFile("live.vtrace");
  unlink(counter.c_str());
  unlink(path.c_str());
  uint64_t last = 0, reads = 0, generation = 0;
  RunOptions options = run_options;
  options.environment["VRAMTRACK_OUTPUT"] = path;
  options.while_running = [&](pid_t pid) {
    while (CallsSoFar(counter) < 100) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const auto begun = std::chrono::steady_clock::now();
    const auto so_far = [begun] { return std::chrono::steady_clock::now() - begun; };
    for (; so_far() < kReadFor || (generation < least_generation && so_far() < 20 * kReadFor); ++reads) {
      const uint64_t before = CallsSoFar(counter);
      const TraceCounts counts = Count(path);
      EXPECT_TRUE(counts.running);
      EXPECT_FALSE(counts.finished);
      EXPECT_EQ(counts.lost_events, 0u);
      EXPECT_EQ(counts.unreadable_events, 0u);
      uint64_t events = 0;
      for (const auto& [operation, n] : counts.operations) {
        EXPECT_TRUE(operation == schema::ALLOCATE || operation == schema::FREE) << operation;
        events += n;
      }
      EXPECT_GE(events, before) << "what had been done before";
      EXPECT_GE(events, last);
      last = events;
      generation = counts.generation;
    }
    kill(pid, SIGSTOP);  // still running, but it does not run away from the slower readers
    for (const char* command : {"info ", "report ", "report --format json "}) {
      int exit_code = 0;
      const std::string output = OutputOf(command + path, &exit_code);
      EXPECT_TRUE(exit_code == 0 || exit_code == 3) << output;
      EXPECT_NE(output.find("still running"), std::string::npos) << output.substr(0, 2000);
    }
    int exit_code = 0;
    const std::string dump = OutputOf("dump " + path + " | tail -n 1", &exit_code);
    EXPECT_EQ(exit_code, 0);
    EXPECT_TRUE(dump.find(" allocate ") != std::string::npos || dump.find(" free ") != std::string::npos) << dump;
    kill(pid, SIGKILL);
  };
  RunProgram("counted_allocations", {counter, std::to_string(kThreads), "0", "512"}, options);
  EXPECT_GE(reads, 2u);
  EXPECT_GE(generation, least_generation);
  EXPECT_LE(last, CallsSoFar(counter) + kThreads + 1);  // and the context
  const TraceCounts end = Count(path);
  EXPECT_FALSE(end.running);
  EXPECT_GE(end.operations.at(schema::ALLOCATE) + end.operations.at(schema::FREE), CallsSoFar(counter));
}

TEST(LiveTraceTest, HasEverythingUpToAMomentAgo) { ReadWhileItRuns({}, 0); }

TEST(LiveTraceTest, OfBoundedSizeToo) {
  RunOptions options;
  options.environment["VRAMTRACK_MAX_BYTES"] = "2M";
  ReadWhileItRuns(options, 1);
}

}  // namespace
}  // namespace vramtrack
