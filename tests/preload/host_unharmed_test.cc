// SPDX-License-Identifier: Apache-2.0
//
// A traced program does what it does untraced: the same output, the same errors, the same end.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

TEST(HostUnharmedTest, FailingCallsLookTheSame) {
  RunOptions untraced;
  untraced.traced = false;
  const RunResult plain = RunProgram("failing_calls", {}, untraced);
  const RunResult traced = RunProgram("failing_calls", {});
  ASSERT_EQ(plain.wait_status, 0);
  EXPECT_EQ(traced.wait_status, plain.wait_status);
  EXPECT_EQ(traced.out, plain.out);
  EXPECT_EQ(traced.err, plain.err);
  EXPECT_TRUE(plain.traces.empty());
}

TEST(HostUnharmedTest, FailedCallsAreEventsAndFailedFreesDoNotHappen) {
  const RunResult run = RunProgram("failing_calls", {});
  ASSERT_EQ(run.traces.size(), 1u);
  const TraceCounts counts = Count(run.traces[0]);
  EXPECT_EQ(counts.operations.at(schema::FAIL), 2u);
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 2u);
  EXPECT_EQ(counts.operations.at(schema::FREE), 2u);
  EXPECT_EQ(counts.operations.at(schema::FREE_UNKNOWN), 3u);  // never given out, freed twice, host
  EXPECT_EQ(counts.operations.at(schema::MARK), 3u);          // that they were refused
  EXPECT_TRUE(counts.live_objects.empty());
}

TEST(HostUnharmedTest, DescriptorNumbersAreTheProgramsOwn) {
  RunOptions untraced;
  untraced.traced = false;
  const RunResult plain = RunProgram("descriptors", {}, untraced);
  const RunResult traced = RunProgram("descriptors", {});
  EXPECT_EQ(traced.wait_status, 0);
  EXPECT_EQ(traced.out, plain.out);
  ASSERT_EQ(traced.traces.size(), 1u);
  EXPECT_EQ(Count(traced.traces[0]).operations.at(schema::ALLOCATE), 2u);
}

class WaysToEnd : public ::testing::TestWithParam<const char*> {};

TEST_P(WaysToEnd, AreTheSameAndTheTraceIsWhole) {
  const std::string way = GetParam();
  RunOptions untraced;
  untraced.traced = false;
  const RunResult plain = RunProgram("ways_to_end", {way}, untraced);
  const RunResult traced = RunProgram("ways_to_end", {way});
  EXPECT_EQ(traced.wait_status, plain.wait_status);
  EXPECT_EQ(traced.out, plain.out);
  EXPECT_EQ(traced.err, plain.err);
  ASSERT_EQ(traced.traces.size(), 1u) << traced.err;
  const TraceCounts counts = Count(traced.traces[0]);
  const uint64_t more = way == "throw" ? 1 : 0;
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 100 + more);
  EXPECT_EQ(counts.operations.at(schema::FREE), 60 + more + (way == "atexit" ? 1 : 0));
  EXPECT_EQ(counts.lost_events, 0u);
  const bool normal = way == "return" || way == "exit" || way == "exit_in_thread" || way == "atexit" || way == "throw";
  EXPECT_EQ(counts.finished, normal);
}

INSTANTIATE_TEST_SUITE_P(All, WaysToEnd,
                         ::testing::Values("return", "exit", "exit_in_thread", "_exit", "quick_exit", "abort",
                                           "sigterm", "sigkill", "segv", "exec", "atexit", "throw"),
                         [](const auto& info) { return std::string(info.param); });

TEST(HostUnharmedTest, AProcessWithoutCudaWritesNothing) {
  const RunResult run = RunProgram("no_cuda", {});
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.traces.empty());
}

TEST(HostUnharmedTest, EachProcessHasItsOwnFile) {
  const RunResult run = RunProgram("process_tree", {});
  ASSERT_EQ(run.wait_status, 0) << run.err;
  ASSERT_EQ(run.traces.size(), 3u) << run.out;
  std::map<std::string, TraceCounts> by_pid;
  for (const std::string& path : run.traces) {
    const std::string name = path.substr(path.rfind('/') + 1);
    by_pid[name.substr(0, name.find('.'))] = Count(path);
  }
  const auto pid_of = [&](const std::string& role) {
    const size_t at = run.out.find(role + " ") + role.size() + 1;
    return run.out.substr(at, run.out.find('\n', at) - at);
  };
  const TraceCounts& parent = by_pid.at(pid_of("parent"));
  EXPECT_EQ(parent.operations.at(schema::ALLOCATE), 20001u);
  EXPECT_TRUE(parent.live_objects.empty());
  // What a child inherited is its parent's, not its leak. CUDA does not work in a child that forked after it was used.
  const TraceCounts& forked = by_pid.at(pid_of("forked"));
  EXPECT_EQ(forked.operations, (std::map<uint32_t, uint64_t>{{schema::FAIL, 3}}));
  EXPECT_TRUE(forked.live_objects.empty());
  const TraceCounts& executed = by_pid.at(pid_of("executed"));
  EXPECT_EQ(executed.operations.at(schema::ALLOCATE), 5u);
  EXPECT_TRUE(executed.finished);
}

TEST(HostUnharmedTest, ThreadsByTheThousand) {
  const RunResult run = RunProgram("many_threads", {"3000"});
  ASSERT_EQ(run.wait_status, 0) << run.err;
  ASSERT_EQ(run.traces.size(), 1u);
  const TraceCounts counts = Count(run.traces[0]);
  EXPECT_EQ(counts.operations.at(schema::ALLOCATE), 6000u);
  EXPECT_EQ(counts.operations.at(schema::FREE), 6000u);
  EXPECT_EQ(counts.lost_events, 0u);
}

TEST(HostUnharmedTest, AFolderThatCannotBeWrittenIsOneLine) {
  RunOptions options;
  options.environment["VRAMTRACK_OUTPUT"] = "/nonexistent/folder/%p.vtrace";
  const RunResult run = RunProgram("ways_to_end", {"return"}, options);
  EXPECT_EQ(WEXITSTATUS(run.wait_status), 3);
  EXPECT_EQ(run.out, "begun\n");
  EXPECT_EQ(run.err.find("vramtrack: not recording: cannot write /nonexistent/folder/"), 0u) << run.err;
  EXPECT_NE(run.err.find("its folder does not exist"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1);
}

TEST(HostUnharmedTest, AnExistingFileIsKeptAndTheTraceGoesBesideIt) {
  RunOptions options;
  const std::string folder = getenv("TEST_TMPDIR") != nullptr ? getenv("TEST_TMPDIR") : "/tmp";
  const std::string path = folder + "/fixed_name";
  for (const char* suffix : {"", ".2"}) unlink((path + suffix).c_str());
  options.environment["VRAMTRACK_OUTPUT"] = path;
  RunProgram("ways_to_end", {"return"}, options);
  RunProgram("ways_to_end", {"throw"}, options);
  EXPECT_EQ(Count(path).operations.at(schema::ALLOCATE), 100u);
  EXPECT_EQ(Count(path + ".2").operations.at(schema::ALLOCATE), 101u);
}

TEST(HostUnharmedTest, ASizeCapTooSmallForWhatIsLiveEndsRecordingWithOneLine) {
  RunOptions options;
  options.environment["VRAMTRACK_MAX_BYTES"] = "400K";
  const std::string counter = std::string(getenv("TEST_TMPDIR") != nullptr ? getenv("TEST_TMPDIR") : "/tmp") + "/cap";
  unlink(counter.c_str());
  const RunResult run = RunProgram("counted_allocations", {counter, "1", "1000000"}, options);
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_NE(run.err.find("recording stopped"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
  ASSERT_EQ(run.traces.size(), 1u);
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok());
  EXPECT_LE((*trace)->file_bytes(), 400u * 1024);
  EXPECT_TRUE((*trace)->damage().empty());
  EXPECT_EQ((*trace)->counter(schema::COUNTER_STOP_REASON), schema::STOP_SIZE_CAP);
  EXPECT_EQ((*trace)->events() + (*trace)->counter(schema::COUNTER_LOST_EVENTS),
            1000000u + 937500u + 1);  // and the context
}

}  // namespace
}  // namespace vramtrack
