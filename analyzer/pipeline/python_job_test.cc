// SPDX-License-Identifier: Apache-2.0
//
// Tests the way from the traces of a job with several Python processes to the text that names the line and the rank.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/text.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

using schema::FRAMEWORK_BLOCK;

constexpr uint64_t kMiB = 1 << 20;
constexpr int kSteps = 60;

enum Number : uint32_t { kNative = 1, kPythonStep, kPythonOther, kStep, kOther, kSameStep, kPythonSameStep };

// In 3.10's format: lines 10, 11, 12, ... of two instructions each.
std::string Lines(int count) {
  std::string lines = {4, 0};
  for (int i = 1; i < count; ++i) lines += {4, 1};
  return lines;
}

// Holds 100 MiB and makes 10 MiB in each step; leaks 1 MiB in each if told, from two instructions of line 12.
std::string Rank(int rank, bool leaks) {
  TraceBuilder trace;
  trace.DefineProcess(0, static_cast<uint32_t>(1000 + rank), {"python", "train.py"}, rank);
  const auto device = static_cast<uint32_t>(rank);
  trace.DefineDevice(0, device, "Simulated GPU", 1024 * kMiB);
  trace.DefineModule(0, 1, "/env/torch/lib/libtorch_cuda.so", 0x400000, 0x400000, 0x500000);
  trace.DefineStack(0, kNative, {0x400100, 0x400200});
  trace.DefineCode(0, 1, "step", "/job/train.py", 10, schema::LINES_LINETABLE, Lines(20));
  trace.DefineCode(0, 2, "Linear.forward", "/env/lib/python3.10/site-packages/torch/nn/modules/linear.py", 100,
                   schema::LINES_LINETABLE, Lines(20));
  trace.DefinePythonStack(0, kPythonStep, {{2, 0}, {1, 8}});
  trace.DefinePythonStack(0, kPythonSameStep, {{2, 2}, {1, 10}});
  trace.DefinePythonStack(0, kPythonOther, {{2, 0}, {1, 20}});
  trace.DefineJoinedStack(0, kStep, kNative, kPythonStep);
  trace.DefineJoinedStack(0, kSameStep, kNative, kPythonSameStep);
  trace.DefineJoinedStack(0, kOther, kNative, kPythonOther);
  uint64_t time = 1000, address = 0x7f0000000000;
  trace.Allocate(0, time, FRAMEWORK_BLOCK, device, kNative, address, 100 * kMiB);
  for (int step = 0; step < kSteps; ++step) {
    time += 1000;
    address += 512 * kMiB;
    const AllocationId id = trace.Allocate(0, time, FRAMEWORK_BLOCK, device, kOther, address, 10 * kMiB);
    if (leaks) {
      trace.Allocate(0, time + 1, FRAMEWORK_BLOCK, device, step % 2 == 0 ? kStep : kSameStep, address + 64 * kMiB,
                     kMiB);
    }
    trace.Free(0, time + 2, FRAMEWORK_BLOCK, device, id);
    trace.Step(0, time + 3, static_cast<uint64_t>(step));
  }
  return trace.Finish();
}

class PythonJob : public testing::TestWithParam<int> {
 protected:
  Report Analyzed(int ranks, int leaking) {
    TestFolder folder;
    std::vector<std::string> paths;
    for (int rank = 0; rank < ranks; ++rank) paths.push_back(folder.Write(Rank(rank, rank == leaking)));
    absl::StatusOr<Report> report = Analyze(paths);
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? *report : Report();
  }
};

TEST_P(PythonJob, TheLineAndTheRankAreNamed) {
  const int ranks = GetParam(), leaking = ranks / 2;
  const Report report = Analyzed(ranks, leaking);
  const std::string text = RenderText(report, TextStyle(), 10);
  EXPECT_EQ(text.substr(0, 58), "LEAK  /job/train.py:12 in step  leaks 1.00 MiB per step  (") << text;
  // Two instructions of one line are one site.
  EXPECT_EQ(report.ranking.size(), 1u);
  EXPECT_EQ(report.ranks.size(), ranks > 1 ? static_cast<size_t>(ranks) : 0u);
  for (const ReportRank& rank : report.ranks) EXPECT_EQ(rank.differs.empty(), *rank.rank != leaking) << *rank.rank;
  const std::string sentence =
      "  rank " + std::to_string(leaking) + " differs: it leaks 1.00 MiB per step at /job/train.py:12 in step";
  EXPECT_EQ(text.find(sentence) != std::string::npos, ranks > 1) << text;
  EXPECT_NE(RenderJson(report).find("\"file\":\"/job/train.py\",\"line\":12,"), std::string::npos);
}

TEST_P(PythonJob, WithoutALeakNoRankDiffers) {
  const Report report = Analyzed(GetParam(), -1);
  EXPECT_TRUE(report.ranking.empty());
  for (const ReportRank& rank : report.ranks) EXPECT_TRUE(rank.differs.empty()) << *rank.rank;
}

INSTANTIATE_TEST_SUITE_P(Ranks, PythonJob, testing::Values(1, 2, 4, 8));

}  // namespace
}  // namespace vramtrack
