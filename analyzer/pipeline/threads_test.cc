// SPDX-License-Identifier: Apache-2.0
//
// Tests that a report is the same, to the byte, with any number of threads.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/ingest/testing/fuzz_file.h"
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

  std::string WriteJob(SyntheticShape shape, uint32_t threads, bool steps, int rank = -1, uint64_t events = 40000) {
    SyntheticTrace wanted;
    wanted.shape = shape;
    wanted.threads = threads;
    wanted.steps = steps;
    wanted.rank = rank;
    wanted.events = events / kFewer;
    const std::string path = folder_.NewFile();
    EXPECT_TRUE(WriteSyntheticTrace(path, wanted));
    return path;
  }

  static std::string Read(const std::string& path) {
    std::ostringstream bytes;
    bytes << std::ifstream(path, std::ios::binary).rdbuf();
    return bytes.str();
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

TEST_F(Threads, OfOneProcess) {
  for (const bool steps : {true, false}) {
    ExpectOneReport({WriteJob(SyntheticShape::kDriver, 1, steps)});
    ExpectOneReport({WriteJob(SyntheticShape::kPyTorch, 3, steps)});  // blocks are freed by other threads
  }
  ExpectOneReport({WriteJob(SyntheticShape::kSites, 2, true, -1, 30000)});
}

TEST_F(Threads, OfADamagedTrace) {
  std::string bytes = Read(WriteJob(SyntheticShape::kPyTorch, 2, true));
  for (size_t at = bytes.size() / 3; at < bytes.size(); at += bytes.size() / 3) bytes[at] ^= 0x55;
  ExpectOneReport({Write(bytes)});
  ExpectOneReport({Write(bytes.substr(0, bytes.size() / 2))});
  RandomTrace random(11, 20000, 4);
  ExpectOneReport({Write(random.trace.Kill())});
}

TEST_F(Threads, OfATraceOfBoundedSize) {
  size_t read = 0;
  for (const std::string& seed : FuzzSeeds()) {
    const std::string path = Write(FileOfFuzzInput(reinterpret_cast<const uint8_t*>(seed.data()), seed.size()));
    if (!Analyze({path}).ok()) continue;
    ++read;
    ExpectOneReport({path});
  }
  EXPECT_GT(read, 1u);
}

TEST_F(Threads, OfAJobOfSeveralProcesses) {
  std::vector<std::string> paths;
  for (int rank = 0; rank < kRanks; ++rank) {
    const bool odd = rank == 4;
    paths.push_back(WriteJob(odd ? SyntheticShape::kDriver : SyntheticShape::kPyTorch, 2, true, rank,
                             20000 + 3000 * static_cast<uint64_t>(rank % 4)));
  }
  paths.insert(paths.begin() + 2, Write("no trace at all"));
  ExpectOneReport(paths);
}

}  // namespace
}  // namespace vramtrack
