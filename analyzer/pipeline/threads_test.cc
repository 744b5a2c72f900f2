// SPDX-License-Identifier: Apache-2.0
//
// Tests that the report of a job is the same, to the byte, with any number of threads: each reads a process.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/ledger/testing/synthetic_trace.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/json/json.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

// A sanitizer makes each report some ten times as slow, and finds what it finds in fewer and smaller ones.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr uint64_t kFewer = 8;
constexpr int kRanks = 5;
const std::vector<size_t> kThreads = {1, 8};
#else
constexpr uint64_t kFewer = 1;
constexpr int kRanks = 9;
const std::vector<size_t> kThreads = {1, 2, 3, 8};
#endif

class Threads : public ::testing::Test {
 protected:
  std::string Write(const std::string& bytes) { return folder_.Write(bytes); }

  std::string WriteRank(SyntheticShape shape, int rank, uint64_t events) {
    SyntheticTrace wanted;
    wanted.shape = shape;
    wanted.threads = 2;
    wanted.steps = true;
    wanted.rank = rank;
    wanted.events = events / kFewer;
    const std::string path = folder_.NewFile();
    EXPECT_TRUE(WriteSyntheticTrace(path, wanted));
    return path;
  }

  static void ExpectOneReport(const std::vector<std::string>& paths) {
    std::string first;
    for (const size_t threads : kThreads) {
      AnalyzeOptions options;
      options.threads = threads;
      const absl::StatusOr<Report> report = Analyze(paths, options);
      ASSERT_TRUE(report.ok()) << report.status();
      const std::string json = RenderJson(*report);
      if (threads == 1) first = json;
      EXPECT_TRUE(json == first) << threads << " threads";
    }
  }

  TestFolder folder_;
};

TEST_F(Threads, OfAJobOfSeveralProcesses) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < kRanks; ++rank) {
    const bool odd = rank == 4;
    paths.push_back(WriteRank(odd ? SyntheticShape::kDriver : SyntheticShape::kPyTorch, rank,
                              20000 + 3000 * static_cast<uint64_t>(rank % 4)));
  }
  paths.insert(paths.begin() + 2, Write("no trace at all"));
  RandomTrace random(11, static_cast<uint32_t>(20000 / kFewer), 4);
  paths.push_back(Write(random.trace.Kill()));
  ExpectOneReport(paths);
}

}  // namespace
}  // namespace vramtrack
