// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

class NvtxTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RunOptions untraced;
    untraced.traced = false;
    expected_ = RunProgram("use_nvtx", {}, untraced).out;
    if (expected_ == "without NVTX\n") GTEST_SKIP() << "this toolkit has no nvtx3/nvToolsExt.h";
  }

  static RunOptions Traced() {
    char here[4096];
    RunOptions options;
    options.environment["NVTX_INJECTION64_PATH"] =
        std::string(getcwd(here, sizeof here)) + "/" + getenv("PRELOAD_LIBRARY");
    return options;
  }

  std::string expected_;
};

std::string Described(const Trace& trace, const StreamEvent& event) {
  const auto& names = trace.definitions().names;
  const auto name = names.find(static_cast<uint32_t>(event.value[0]));
  std::string mark = schema::MarkKindName(event.shape->kind);
  if (name != names.end()) mark += ": " + name->second;
  if (event.value[1] != 0) mark += ", " + std::to_string(event.value[1]);
  return mark;
}

TEST_F(NvtxTest, RangesAndMarksOfAllDomains) {
  const RunResult run = RunProgram("use_nvtx", {}, Traced());
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.out, expected_);
  ASSERT_EQ(run.traces.size(), 1u);
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok()) << trace.status();
  std::vector<std::string> marks;
  std::vector<ThreadSlot> threads;
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    if (event.operation != schema::MARK) continue;
    EXPECT_EQ(event.shape->ref == 0, marks.empty()) << "the first one is from before the first CUDA call";
    marks.push_back(Described(**trace, event));
    threads.push_back(event.slot);
  }
  const std::vector<std::string> all = {
      "mark_range_push: before CUDA",
      "mark_range_pop",
      "mark_range_push: step #, 17",
      "mark_instant: epoch # step #, 18",
      "mark_range_push: with attributes",
      "mark_range_push: with attributes",
      "mark_instant: registered #, 5",
      "mark_instant: registered #, 5",
      "mark_instant: wide and registered",
      "mark_range_pop",
      "mark_range_pop",
      "mark_range_push: wide \u00e9\u20ac\U0001f600 #, 4",
      "mark_range_pop",
      "mark_instant: wide",
      "mark_instant: wide",
      "mark_instant",
      "mark_instant",
      "mark_instant: request #, 18446744073709551615",
      "mark_range_push: a library:its step #, 3",
      "mark_range_push: another:its step #, 3",
      "mark_range_pop: a library:",
      "mark_range_pop: another:",
      "mark_instant: a library:its step #, 3",
      "mark_range_push: a library:its step #, 4",
      "mark_range_push: ?:",
      "mark_range_start: request #, 1",
      "mark_range_start: asynchronous #, 2",
      "mark_range_start: wide, 3",
      "mark_range_start: a library:asynchronous #, 4",
      "mark_range_end, 1",
      "mark_range_end, 4",
      "mark_range_end, 3",
  };
  ASSERT_EQ(marks.size(), all.size() + 2);
  EXPECT_EQ(std::vector<std::string>(marks.begin(), marks.end() - 2), all);
  // The first range that was started has ended in another thread.
  EXPECT_NE(threads[29], threads[25]);
  EXPECT_EQ(threads[30], threads[25]);
}

// The past of a bounded trace counts all marks and steps, by name.
void ExpectCountsOf(const Trace& trace) {
  ASSERT_NE(trace.past(), nullptr);
  const auto& names = trace.definitions().names;
  std::map<std::string, uint64_t> kinds;
  for (const CheckpointRecord& record : trace.past()->records) {
    if (record.operation != schema::STEP && record.operation != schema::MARK) continue;
    const auto name = names.find(static_cast<uint32_t>(record.name));
    const std::string kind = schema::MarkKindName(static_cast<uint32_t>(record.kind));
    kinds[kind + " " + (name == names.end() ? "" : name->second)] += record.count;
  }
  EXPECT_GT(kinds["mark_none "], 100000u) << "steps";
  EXPECT_GT(kinds["mark_range_start server:answer #"], 100000u);
  EXPECT_GT(kinds["mark_range_end "], 60000u);
  EXPECT_GT(kinds["mark_instant step #"], 100000u);
}

TEST_F(NvtxTest, VeryManyNamesAreBounded) {
  for (const char* max_bytes : {"", "3M"}) {
    RunOptions options = Traced();
    if (*max_bytes != '\0') options.environment["VRAMTRACK_MAX_BYTES"] = max_bytes;
    const RunResult run = RunProgram("use_nvtx", {"many"}, options);
    EXPECT_EQ(run.wait_status, 0);
    EXPECT_EQ(run.err, "");
    ASSERT_EQ(run.traces.size(), 1u);
    auto trace = Trace::Open(run.traces[0]);
    ASSERT_TRUE(trace.ok()) << trace.status();
    EXPECT_EQ((*trace)->counter(schema::COUNTER_STOP_REASON), 0u);
    EXPECT_EQ((*trace)->counter(schema::COUNTER_LOST_EVENTS), 0u);
    EXPECT_LE((*trace)->definitions().names.size(), 16384u);
    uint64_t steps = 0, jobs = 0, all = 0;
    EventStream stream(**trace);
    for (StreamEvent event; stream.Next(&event);) {
      if (event.operation != schema::MARK) continue;
      const auto name = (*trace)->definitions().names.find(static_cast<uint32_t>(event.value[0]));
      ++all;
      if (name == (*trace)->definitions().names.end()) continue;
      steps += name->second == "step #";
      jobs += name->second.rfind("job-", 0) == 0;
    }
    if (*max_bytes != '\0') {
      ExpectCountsOf(**trace);
      continue;
    }
    EXPECT_EQ(all, (5u + 1) * 300000 - 100000 + 2);
    EXPECT_EQ(steps, 300000u);
    EXPECT_GT(jobs, 299000u) << "all but those whose hexadecimal number happens to have no digit";
  }
}

TEST_F(NvtxTest, MarksBeforeTheFirstCudaCallAreKept) {
  const RunResult run = RunProgram("use_nvtx", {"early"}, Traced());
  EXPECT_EQ(run.wait_status, 0) << run.err;
  ASSERT_EQ(run.traces.size(), 2u) << "of the process and of its child";
  bool parent_seen = false;
  for (const std::string& path : run.traces) {
    auto trace = Trace::Open(path);
    ASSERT_TRUE(trace.ok()) << trace.status();
    std::vector<std::string> marks;
    uint64_t steps = 0, early_steps = 0, last_time = 0;
    int open = 0, deepest = 0;
    bool allocated = false;
    EventStream stream(**trace);
    for (StreamEvent event; stream.Next(&event);) {
      allocated |= event.operation == schema::ALLOCATE;
      EXPECT_GE(event.time, last_time);
      last_time = event.time;
      if (event.operation == schema::STEP) {
        EXPECT_EQ(event.value[0], steps);
        ++steps;
        early_steps += !allocated;
      }
      if (event.operation != schema::MARK) continue;
      EXPECT_GE(event.time, (*trace)->clock().start_ticks()) << "the recording begins with the first mark";
      open += event.shape->kind == schema::MARK_RANGE_PUSH ? 1 : event.shape->kind == schema::MARK_RANGE_POP ? -1 : 0;
      deepest = std::max(deepest, open);
      marks.push_back(Described(**trace, event));
    }
    if (marks.size() == 2) continue;  // the child's own
    parent_seen = true;
    EXPECT_EQ(steps, 300u);
    EXPECT_EQ(early_steps, 300u);
    EXPECT_EQ(open, 0);
    EXPECT_GE(deepest, 500);
    ASSERT_GT(marks.size(), 3u);
    EXPECT_EQ(marks[0], "mark_range_push: run");
    EXPECT_EQ(marks[1], "mark_instant: a library:in a domain");
    EXPECT_EQ(marks[marks.size() - 3], "mark_range_push: phase #, 2");
    EXPECT_EQ(marks[marks.size() - 2], "mark_range_pop");
    EXPECT_EQ(marks[marks.size() - 1], "mark_range_pop");
  }
  EXPECT_TRUE(parent_seen);
}

TEST_F(NvtxTest, WithoutACudaCallNothingIsWritten) {
  const RunResult run = RunProgram("use_nvtx", {"none"}, Traced());
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_TRUE(run.traces.empty());
}

}  // namespace
}  // namespace vramtrack
