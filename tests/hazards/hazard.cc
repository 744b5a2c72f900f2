// SPDX-License-Identifier: Apache-2.0
#include "tests/hazards/hazard.h"

#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sstream>

namespace vramtrack {
namespace {

constexpr int kNotHere = 77;

struct Stderr {
  std::string of_program;
  std::vector<std::string> of_tracer;
};

Stderr Divide(const std::string& text) {
  Stderr divided;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("vramtrack: ", 0) == 0) {
      divided.of_tracer.push_back(line);
    } else {
      divided.of_program += line + "\n";
    }
  }
  return divided;
}

void ExpectCount(const char* what, uint64_t found, uint64_t expected) {
  if (expected != Expected::kAny) {
    EXPECT_EQ(found, expected) << what;
  }
}

}  // namespace

std::string DataPath(const std::string& relative) {
  char here[4096];
  return std::string(getcwd(here, sizeof here)) + "/" + relative;
}

std::string NewTestFolder() {
  const char* base = getenv("TEST_TMPDIR");
  std::string folder = std::string(base != nullptr ? base : "/tmp") + "/folder.XXXXXX";
  if (mkdtemp(&folder[0]) == nullptr) ADD_FAILURE() << "no folder";
  return folder;
}

void ExpectTraces(const RunResult& traced, const Expected& expected) {
  ExpectCount("processes", traced.traces.size(), expected.processes);
  uint64_t finished = 0, lost = 0, live = 0;
  std::map<uint32_t, uint64_t> operations;
  for (const std::string& path : traced.traces) {
    const TraceCounts counts = Count(path);
    EXPECT_EQ(counts.unreadable_events, 0u) << path;
    finished += counts.finished;
    lost += counts.lost_events;
    for (const auto& [operation, count] : counts.operations) operations[operation] += count;
    for (const auto& [kind, count] : counts.live_objects) live += count;
  }
  ExpectCount("finished", finished, expected.finished);
  ExpectCount("lost", lost, expected.lost);
  ExpectCount("live", live, expected.live);
  ExpectCount("allocations", operations[schema::ALLOCATE], expected.allocations);
  ExpectCount("frees", operations[schema::FREE], expected.frees);
  ExpectCount("failures", operations[schema::FAIL], expected.failures);
  ExpectCount("unknown frees", operations[schema::FREE_UNKNOWN], expected.unknown_frees);
}

void ExpectSame(const RunResult& plain, const RunResult& traced, const Expected& expected) {
  EXPECT_TRUE(plain.traces.empty());
  EXPECT_EQ(traced.wait_status, plain.wait_status);
  EXPECT_EQ(traced.out, plain.out);
  const Stderr before = Divide(plain.err), after = Divide(traced.err);
  EXPECT_EQ(after.of_program, before.of_program);
  ExpectCount("lines", after.of_tracer.size(), expected.lines);
  EXPECT_LE(after.of_tracer.size(), 2u) << traced.err;
  ExpectTraces(traced, expected);
}

RunResult ExpectUnharmed(const Hazard& hazard) {
  RunOptions untraced = hazard.options;
  untraced.traced = false;
  RunResult plain = RunProgram(hazard.program, hazard.arguments, untraced);
  if (WIFEXITED(plain.wait_status) && WEXITSTATUS(plain.wait_status) == kNotHere) {
    [&] { GTEST_SKIP() << plain.out; }();
    return {};
  }
  RunResult traced = RunProgram(hazard.program, hazard.arguments, hazard.options);
  const auto crashed = [&] { return WIFSIGNALED(plain.wait_status) || WIFSIGNALED(traced.wait_status); };
  for (int again = 0; again < 3 && hazard.may_crash && crashed(); ++again) {
    plain = RunProgram(hazard.program, hazard.arguments, untraced);
    traced = RunProgram(hazard.program, hazard.arguments, hazard.options);
  }
  ExpectSame(plain, traced, hazard.expected);
  if (::testing::Test::HasFailure()) {
    ADD_FAILURE() << "traced: status " << traced.wait_status << ", stdout:\n"
                  << traced.out.substr(0, 2000) << "stderr:\n"
                  << traced.err.substr(0, 2000) << "plain stderr:\n"
                  << plain.err.substr(0, 2000);
  }
  return traced;
}

}  // namespace vramtrack
