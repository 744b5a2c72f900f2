// SPDX-License-Identifier: Apache-2.0
//
// Python stacks are those that the interpreter itself tells, for every CPython that this machine has.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/hazards/hazard.h"
#include "tests/python/interpreters.h"
#include "tests/python/python_trace.h"

namespace vramtrack {
namespace {

constexpr size_t kMaxFrames = 128;

class OracleTest : public ::testing::TestWithParam<PythonProgram> {
 protected:
  // The trace of the oracle's program.
  PythonTrace Run(int rounds, const RunOptions& options = {}) {
    expected_ = NewTestFolder() + "/expected";
    const RunResult run = RunProgram(
        GetParam().path,
        {DataPath("tests/python/programs/oracle.py"), DataPath(getenv("SIMCUDA")), expected_, std::to_string(rounds)},
        options);
    EXPECT_EQ(run.wait_status, 0) << run.err;
    EXPECT_EQ(run.err, "");
    EXPECT_EQ(run.traces.size(), 1u);
    return run.traces.empty() ? PythonTrace() : ReadPythonTrace(run.traces[0]);
  }

  void ExpectOracle(const PythonTrace& trace, size_t max_frames) {
    size_t stacks, frames;
    for (const std::string& one : CompareWithOracle(trace, expected_, max_frames, &stacks, &frames)) {
      ADD_FAILURE() << one;
    }
    printf("%s: %zu stacks, %zu frames\n", GetParam().path.c_str(), stacks, frames);
  }

  std::string expected_;
};

TEST_P(OracleTest, TellsTheSameFrames) {
  const PythonTrace trace = Run(20);
  EXPECT_TRUE(trace.unseen.empty());
  ExpectOracle(trace, kMaxFrames);

  // Where the interpreter was called anew: for every frame up to 3.10, later for the outermost and where C lies
  // between.
  size_t calls = 0, plain = 0;
  for (const auto& [bytes, allocation] : trace.by_bytes) {
    const auto& frames = allocation.python;
    if (frames.empty()) continue;
    if (!allocation.truncated) EXPECT_TRUE(frames.back().entry) << bytes;
    for (size_t i = 0; i + 1 < frames.size(); ++i) {
      if (frames[i].name == "through_c" && frames[i + 1].name == "through_c") {
        EXPECT_TRUE(frames[i].entry) << bytes;
        ++calls;
      }
      if (frames[i].name == "recurse" && frames[i + 1].name == "recurse") {
        EXPECT_EQ(frames[i].entry, GetParam().minor <= 10) << bytes;
        ++plain;
      }
    }
  }
  // The native part ends at the innermost of all these calls of the interpreter.
  for (const auto& [bytes, allocation] : trace.by_bytes) {
    if (allocation.joined) EXPECT_LT(allocation.native.size(), 24u) << bytes;
    if (allocation.joined) EXPECT_GT(allocation.native.size(), 3u) << bytes;
  }
  EXPECT_GT(calls, 100u);
  EXPECT_GT(plain, 100u);
}

TEST_P(OracleTest, CodeIsNotDefinedAgainAndAgain) {
  const PythonTrace trace = Run(3);
  std::map<std::string, size_t> by_place;
  for (const format::Code& code : trace.codes) {
    ++by_place[code.name() + "\n" + code.file() + "\n" + std::to_string(code.first_line()) + "\n" + code.lines()];
    EXPECT_NE(code.table(), format::LINES_NONE);
    // Up to 3.9 what lies on one line needs no table.
    if (GetParam().minor > 9) EXPECT_FALSE(code.lines().empty()) << code.name();
    if (code.name() == "long_one") EXPECT_GT(code.lines().size(), 6000u);
  }
  size_t places = 0, again = 0;
  for (const auto& [place, count] : by_place) {
    // What the program itself compiles again and again is other code each time.
    if (place.find("<exec") != std::string::npos || place.find("<string>") != std::string::npos) continue;
    ++places;
    again += count - 1;
  }
  // Threads may meet a code object at the same moment, and all five begin with the same ones; each of them comes by
  // hundreds of times.
  EXPECT_GT(places, 50u);
  EXPECT_LE(again, places / 2);
}

TEST_P(OracleTest, FewFramesAreTheInnermost) {
  RunOptions options;
  options.environment["VRAMTRACK_MAX_FRAMES"] = "3";
  ExpectOracle(Run(2, options), 3);
}

TEST_P(OracleTest, WithoutNativeStacks) {
  RunOptions options;
  options.environment["VRAMTRACK_STACKS"] = "python";
  const PythonTrace trace = Run(2, options);
  ExpectOracle(trace, kMaxFrames);
  for (const auto& [bytes, allocation] : trace.by_bytes) EXPECT_TRUE(allocation.native.empty());
}

TEST_P(OracleTest, OnlyNativeStacks) {
  RunOptions options;
  options.environment["VRAMTRACK_STACKS"] = "native";
  const PythonTrace trace = Run(2, options);
  EXPECT_TRUE(trace.codes.empty());
  for (const auto& [bytes, allocation] : trace.by_bytes) {
    EXPECT_FALSE(allocation.joined);
    EXPECT_FALSE(allocation.native.empty());
  }
}

INSTANTIATE_TEST_SUITE_P(All, OracleTest, ::testing::ValuesIn(FindInterpreters()),
                         [](const auto& info) { return info.param.name; });
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OracleTest);

}  // namespace
}  // namespace vramtrack
