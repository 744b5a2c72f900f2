// SPDX-License-Identifier: Apache-2.0
//
// Tests the way from the traces of a job with several Python processes to the text that names the line and the rank.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/pipeline/testing/report_on.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/text/text.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr int kSteps = 60;

// Holds 100 MiB and makes 10 MiB in each step; leaks 1 MiB in each if told, from two instructions of line 12.
std::string Rank(int rank, bool leaks) {
  JobBuilder job({{"python", "train.py"}, rank, static_cast<uint32_t>(1000 + rank), "/env/torch/lib/libtorch_cuda.so"});
  const auto device = static_cast<uint32_t>(rank);
  job.OnDevice(device);
  job.Device(1024 * kMiB, device);
  enum : uint32_t { kNative = 1, kOther };
  const PythonLine linear = {"Linear.forward", 100, "/env/lib/python3.10/site-packages/torch/nn/modules/linear.py"};
  job.DefinePython(kOther, {linear, {"step", 15}}, kNative);
  job.Block(kNative, 100 * kMiB);
  for (int step = 0; step < kSteps; ++step) {
    const JobObject work = job.Block(kOther, 10 * kMiB);
    PythonLine leak = {"step", 12};
    leak.instruction = static_cast<uint32_t>(step) % 2;
    if (leaks) job.Block(job.Python({linear, leak}, kNative), kMiB);
    job.Free(work);
    job.Pass(1000);
    job.EndStep();
  }
  return job.Finish();
}

class PythonJob : public testing::TestWithParam<int> {
 protected:
  Report Analyzed(int ranks, int leaking) {
    std::vector<std::string> traces;
    for (int rank = 0; rank < ranks; ++rank) traces.push_back(Rank(rank, rank == leaking));
    return ReportOn(traces);
  }
};

TEST_P(PythonJob, TheLineAndTheRankAreNamed) {
  const int ranks = GetParam(), leaking = ranks / 2;
  const Report report = Analyzed(ranks, leaking);
  const std::string text = RenderText(report, TextStyle(), {10, /*verbose=*/true, {}, false});
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
