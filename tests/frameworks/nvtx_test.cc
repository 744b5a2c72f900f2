// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "tests/preload/traced_run.h"

namespace vramtrack {
namespace {

TEST(NvtxTest, RangesAndMarksOfTheProgramItself) {
  RunOptions untraced;
  untraced.traced = false;
  const std::string expected = RunProgram("use_nvtx", {}, untraced).out;
  if (expected == "without NVTX\n") GTEST_SKIP() << "this toolkit has no nvtx3/nvToolsExt.h";
  char here[4096];
  RunOptions options;
  options.environment["NVTX_INJECTION64_PATH"] =
      std::string(getcwd(here, sizeof here)) + "/" + getenv("PRELOAD_LIBRARY");
  const RunResult run = RunProgram("use_nvtx", {}, options);
  EXPECT_EQ(run.wait_status, 0);
  EXPECT_EQ(run.out, expected);
  ASSERT_EQ(run.traces.size(), 1u);
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok()) << trace.status();
  std::vector<std::string> marks;
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    if (event.operation != schema::MARK) continue;
    EXPECT_NE(event.shape->ref, 0u);
    const auto& names = (*trace)->definitions().names;
    const auto name = names.find(static_cast<uint32_t>(event.value[0]));
    std::string mark = schema::MarkKindName(event.shape->kind);
    if (name != names.end()) mark += ": " + name->second;
    if (event.value[1] != 0) mark += ", " + std::to_string(event.value[1]);
    marks.push_back(mark);
  }
  const std::vector<std::string> all = {
      "mark_range_pop",
      "mark_range_push: step #, 17",
      "mark_instant: epoch # step #, 18",
      "mark_range_push: with attributes",
      "mark_range_push: with attributes",
      "mark_instant: registered #, 5",
      "mark_instant: registered #, 5",
      "mark_range_pop",
      "mark_range_pop",
      "mark_instant",
      "mark_instant",
      "mark_instant",
  };
  ASSERT_EQ(marks.size(), all.size() + 2);
  EXPECT_EQ(std::vector<std::string>(marks.begin(), marks.end() - 2), all);
}

}  // namespace
}  // namespace vramtrack
