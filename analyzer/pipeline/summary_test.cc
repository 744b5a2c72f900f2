// SPDX-License-Identifier: Apache-2.0
//
// Tests that a summary has the same findings as its traces, and that joining summaries in any order gives the same
// bytes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "analyzer/base/gzip.h"
#include "analyzer/base/testing/test_folder.h"
#include "analyzer/ledger/testing/synthetic_trace.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/json/json.h"
#include "analyzer/render/json/json_fields.h"
#include "analyzer/summary/process_summary.h"
#include "analyzer/summary/summary.h"
#include "proto/testing/job_builder.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

using schema::DEVICE;

constexpr uint64_t kMiB = 1 << 20;

// A rank that leaks `leak` bytes in each step. A walk at the end knows the list that holds them.
std::string Rank(int rank, int steps, uint64_t leak) {
  const auto pid = static_cast<uint32_t>(1000 + rank);
  JobBuilder job({{"./train"}, rank, pid});
  job.Device(1 << 30);
  std::vector<uint64_t> kept;
  for (int step = 0; step < steps; ++step) {
    const JobObject scratch = job.AllocateAt(1, 1 << 20, 2 * kMiB + pid);
    if (leak > 0) kept.push_back(job.Allocate(2, leak).address);
    job.Free(scratch);
    job.EndStep();
  }
  if (leak > 0) {
    HolderWalkBuilder walk(1, schema::HOLDERS_AT_EXIT, job.now() + 1, job.now() + 2);
    const uint32_t module = walk.Path(0, schema::HOLDER_MODULE, "__main__", "module", 0, 1, "/job/train.py");
    const uint32_t history = walk.Path(module, schema::HOLDER_ATTRIBUTE, "history", "list", kept.size());
    const uint32_t entry = walk.Path(history, schema::HOLDER_ENTRY, "", "Tensor", 0, kept.size());
    for (const uint64_t block : kept) walk.Block(block, entry);
    job.trace().HolderWalk(walk);
  }
  return job.Finish();
}

class Summaries : public ::testing::Test {
 protected:
  std::string NewFile() { return folder_.NewFile(); }
  std::string WriteFile(const std::string& bytes) { return folder_.Write(bytes); }

  static Summary Summarize(const std::vector<std::string>& paths) {
    Summary summary;
    for (const std::string& path : paths) {
      const absl::StatusOr<ProcessSummary> process = SummarizeProcess(path, {});
      EXPECT_TRUE(process.ok()) << process.status();
      if (process.ok()) summary.Add(*process);
    }
    return summary;
  }

  static Summary ReadBack(const std::string& bytes) {
    std::string damage;
    absl::StatusOr<Summary> summary = Summary::Read(bytes, "it", &damage);
    EXPECT_TRUE(summary.ok()) << summary.status();
    EXPECT_EQ(damage, "");
    return summary.ok() ? *std::move(summary) : Summary();
  }

  static std::string JsonOf(const std::vector<std::string>& paths) {
    const absl::StatusOr<Report> report = Analyze(paths, {});
    EXPECT_TRUE(report.ok()) << report.status();
    return report.ok() ? RenderJson(*report) : "";
  }

 private:
  TestFolder folder_;
};

TEST_F(Summaries, SayWhatTheTraceSays) {
  std::vector<std::string> traces;
  for (const SyntheticShape shape : {SyntheticShape::kDriver, SyntheticShape::kPyTorch, SyntheticShape::kSites}) {
    SyntheticTrace wanted;
    wanted.shape = shape;
    wanted.events = 4000;
    traces.push_back(NewFile());
    ASSERT_TRUE(WriteSyntheticTrace(traces.back(), wanted));
  }
  for (const uint64_t seed : {1, 2, 3, 4, 5}) traces.push_back(WriteFile(RandomTrace(seed, 2000, 3).trace.Finish()));
  traces.push_back(WriteFile(RandomTrace(6, 2000, 3).trace.Kill()));
  traces.push_back(WriteFile(Rank(0, 0, 0)));
  for (const std::string& trace : traces) {
    SCOPED_TRACE(trace);
    const Summary summary = Summarize({trace});
    EXPECT_EQ(JsonOf({WriteFile(summary.Write())}), JsonOf({trace}));
    EXPECT_EQ(ReadBack(summary.Write()).Write(), summary.Write());
  }
}

TEST_F(Summaries, SayWhatAJobSays) {
  std::vector<std::string> traces;
  for (int rank = 0; rank < 5; ++rank) traces.push_back(WriteFile(Rank(rank, 60, rank == 3 ? 4 * kMiB : 1000)));
  EXPECT_EQ(JsonOf({WriteFile(Summarize(traces).Write())}), JsonOf(traces));
  EXPECT_NE(JsonOf(traces).find("__main__.history[*]"), std::string::npos);
  // In as many files as there are.
  std::vector<std::string> each;
  for (const std::string& trace : traces) each.push_back(WriteFile(Summarize({trace}).Write()));
  EXPECT_EQ(JsonOf(each), JsonOf(traces));
}

// Also a file that is none.
TEST_F(Summaries, SayWhatTheyLackAsTheTracesDo) {
  std::vector<std::string> files;
  for (int rank = 0; rank < 3; ++rank) files.push_back(WriteFile(Rank(rank, 60, kMiB)));
  files.push_back(WriteFile("no trace at all"));
  files.push_back(WriteFile(""));
  std::vector<Summary> each;
  Summary all;
  for (const std::string& file : files) {
    Summary one;
    const absl::StatusOr<ProcessSummary> process = SummarizeProcess(file, {});
    if (process.ok()) one.Add(*process);
    if (!process.ok()) one.AddLack("left out: " + std::string(process.status().message()));
    all.Join(one);
    each.push_back(std::move(one));
  }
  EXPECT_EQ(all.Lacks().size(), 2u);
  const std::string from_traces = JsonOf(files);
  EXPECT_NE(from_traces.find("left out: "), std::string::npos);
  EXPECT_EQ(JsonOf({WriteFile(all.Write())}), from_traces);

  Summary backwards;
  for (auto one = each.rbegin(); one != each.rend(); ++one) {
    // One is one, however often it comes.
    for (int times = 0; times < 2; ++times) backwards.Join(ReadBack(one->Write()));
  }
  EXPECT_EQ(backwards.Write(), all.Write());
  EXPECT_EQ(ReadBack(all.Write()).Write(), all.Write());
}

TEST_F(Summaries, OfVeryMuchThatTheyLackTheSameStays) {
  std::vector<Summary> groups(5);
  Summary all;
  for (int i = 0; i < 500; ++i) {
    const std::string line = "left out: " + std::to_string(i) + ".vtrace: empty";
    groups[static_cast<size_t>(i) % 5].AddLack(line);
    all.AddLack(line);
  }
  Summary forwards, backwards;
  for (size_t i = 0; i < 5; ++i) {
    forwards.Join(groups[i]);
    backwards.Join(groups[4 - i]);
  }
  forwards.Join(all);
  EXPECT_EQ(forwards.Write(), all.Write());
  EXPECT_EQ(backwards.Write(), all.Write());
  EXPECT_LE(all.Lacks().size(), 101u);
  EXPECT_NE(all.Lacks().back().find("not recorded"), std::string::npos);
}

TEST_F(Summaries, JoinInAnyOrderAndGroupingToTheSameBytes) {
  for (const int ranks : {5, 16, 17, 24}) {
    SCOPED_TRACE(ranks);
    std::vector<Summary> each;
    Summary all;
    for (int rank = 0; rank < ranks; ++rank) {
      each.push_back(Summarize({WriteFile(Rank(rank, 300 + rank, static_cast<uint64_t>(rank % 3) * 100000))}));
      all.Join(each.back());
    }
    all.Reduce();
    const std::string whole = all.Write();
    std::mt19937 random(static_cast<uint32_t>(ranks));
    for (int round = 0; round < 4; ++round) {
      std::vector<Summary> groups = each;
      // Some are there twice, some were kept in less detail.
      groups.push_back(each[random() % each.size()]);
      while (groups.size() > 1) {
        const size_t from = random() % groups.size();
        Summary taken = ReadBack(groups[from].Write());
        groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(from));
        Summary& to = groups[random() % groups.size()];
        to.Join(taken);
        if (random() % 2 == 0) to.Reduce();
        if (random() % 4 == 0) groups.push_back(to);
        if (groups.size() > 2 * each.size()) groups.pop_back();
      }
      for (const Summary& one : each) groups[0].Join(one);
      groups[0].Reduce();
      EXPECT_EQ(groups[0].Write(), whole);
    }
  }
}

TEST_F(Summaries, OfOneProcessTheFullerRecordStays) {
  const Summary half = Summarize({WriteFile(Rank(7, 30, kMiB))}), whole = Summarize({WriteFile(Rank(7, 60, kMiB))});
  for (const bool first : {false, true}) {
    Summary joined = first ? half : whole;
    joined.Join(first ? whole : half);
    EXPECT_EQ(joined.Write(), whole.Write());
  }
}

TEST_F(Summaries, LessDetailKeepsEveryFigureOfSites) {
  const std::string trace = WriteFile(Rank(1, 3000, kMiB));
  Summary full = Summarize({trace}), job = full, fleet = full, in_turns = full;
  job.Reduce(Detail::kJob);
  fleet.Reduce(Detail::kFleet);
  in_turns.Reduce(Detail::kJob);
  in_turns.Reduce(Detail::kFleet);
  EXPECT_EQ(in_turns.Write(), fleet.Write());
  EXPECT_LT(job.Write().size(), full.Write().size());
  EXPECT_LT(fleet.Write().size(), job.Write().size());
  const absl::StatusOr<Report> of_trace = Analyze({trace}, {}), of_fleet = Analyze({WriteFile(fleet.Write())}, {});
  ASSERT_TRUE(of_fleet.ok());
  ASSERT_EQ(of_fleet->sites.size(), of_trace->sites.size());
  for (size_t i = 0; i < of_trace->sites.size(); ++i) {
    const ReportSite &a = of_trace->sites[i], &b = of_fleet->sites[i];
    EXPECT_EQ(a.id, b.id);
    EXPECT_EQ(a.verdict, b.verdict);
    EXPECT_EQ(a.rate_bytes_per_step, b.rate_bytes_per_step);
    EXPECT_EQ(a.live_bytes, b.live_bytes);
    if (a.kept) {
      EXPECT_EQ(a.kept->bytes.back(), b.kept->bytes.back());
    }
  }
  const std::vector<uint64_t>&fine = of_trace->timeline[0].live.high, &coarse = of_fleet->timeline[0].live.high;
  EXPECT_LE(coarse.size(), 64u);
  EXPECT_EQ(*std::max_element(fine.begin(), fine.end()), *std::max_element(coarse.begin(), coarse.end()));
}

// Of many processes a summary keeps less; of what the report says of ranks that makes no difference.
TEST_F(Summaries, CurvesOfRanksAreThoseOfTheTraces) {
  std::vector<std::string> traces;
  Summary full, job, fleet;
  std::vector<Summary> halves(2);
  for (int rank = 0; rank < 80; ++rank) {
    const int steps = rank == 7 ? 1500 : rank == 9 ? 700 : 90 + rank;
    traces.push_back(WriteFile(Rank(rank, steps, rank % 9 == 1 ? kMiB + static_cast<uint64_t>(rank) : 1000)));
    const Summary one = Summarize({traces.back()});
    full.Join(one);
    halves[static_cast<size_t>(rank) % 2].Join(one);
    if (rank % 5 == 0) halves[static_cast<size_t>(rank) % 2].Reduce();
  }
  const auto ranks = [this](const std::vector<std::string>& paths) {
    return Json::parse(JsonOf(paths))["ranks"].dump();
  };
  const std::string of_traces = ranks(traces);
  EXPECT_NE(of_traces.find("\"order\":63"), std::string::npos);
  EXPECT_EQ(ranks({WriteFile(full.Write())}), of_traces);
  job = fleet = full;
  job.Reduce(Detail::kJob);
  EXPECT_EQ(ranks({WriteFile(job.Write())}), of_traces);
  fleet.Reduce(Detail::kFleet);
  EXPECT_EQ(ranks({WriteFile(fleet.Write())}), of_traces);
  EXPECT_EQ(ranks({WriteFile(halves[1].Write()), WriteFile(halves[0].Write())}), of_traces);
  halves[1].Join(halves[0]);
  halves[1].Reduce();
  EXPECT_EQ(ranks({WriteFile(halves[1].Write())}), of_traces);
}

TEST_F(Summaries, CutShortTheySayWhatIsThere) {
  std::vector<std::string> traces;
  for (int rank = 0; rank < 12; ++rank) traces.push_back(WriteFile(Rank(rank, 40, kMiB)));
  const Summary summary = Summarize(traces);
  const std::string bytes = summary.Write();
  size_t before = 0;
  for (size_t cut = 0; cut < bytes.size(); cut += 1 + cut / 97) {
    std::string damage;
    const absl::StatusOr<Summary> read = Summary::Read(bytes.substr(0, cut), "half.vts", &damage);
    if (!read.ok()) {
      EXPECT_EQ(before, 0u);
      EXPECT_EQ(read.status().message().substr(0, 10), "half.vts: ");
      EXPECT_EQ(read.status().message().find('\n'), std::string::npos);
      continue;
    }
    EXPECT_NE(damage.find(" of its 12 processes"), std::string::npos) << damage;
    EXPECT_GE(read->records().size(), before);
    before = read->records().size();
    for (const auto& [identity, record] : read->records()) EXPECT_TRUE(read->Decode(identity, record).ok());
  }
  EXPECT_GT(before, 6u);
}

TEST_F(Summaries, WhateverTheyHoldNothingBreaks) {
  const std::string message =
      Gunzip(Summarize({WriteFile(RandomTrace(3, 2000, 2).trace.Finish())}).Write(), 1 << 30).bytes;
  std::mt19937 random(5);
  int read = 0, decoded = 0;
  for (int round = 0; round < 100; ++round) {
    std::string bad = message;
    for (uint32_t flips = 1 + random() % 4; flips > 0; --flips) {
      // Mostly behind the frames and stacks, where a summary goes on.
      bad[random() % 4 == 0 ? random() % bad.size() : bad.size() - 1 - random() % (bad.size() / 2)] =
          static_cast<char>(random());
    }
    std::string damage;
    const std::string packed = Gzip(bad, GzipEffort::kFast);
    const absl::StatusOr<Summary> summary = Summary::Read(packed, "bad.vts", &damage);
    if (!summary.ok()) continue;
    ++read;
    const std::string path = WriteFile(packed);
    const absl::StatusOr<Report> report = Analyze({path}, {});
    unlink(path.c_str());
    if (!report.ok()) continue;
    ++decoded;
    EXPECT_FALSE(RenderJson(*report).empty());
  }
  EXPECT_GT(read, 20);
  EXPECT_GT(decoded, 2);
}

TEST_F(Summaries, OptionsThatDecideWhatIsFoundAreForTraces) {
  const std::string path = WriteFile(Summarize({WriteFile(Rank(0, 40, kMiB))}).Write());
  AnalyzeOptions options;
  options.step_marks = "optimizer";
  const absl::StatusOr<Report> report = Analyze({path}, options);
  ASSERT_FALSE(report.ok());
  EXPECT_EQ(report.status().message(), path + ": is a summary; --step-marks is for summarize, which made it");
}

}  // namespace
}  // namespace vramtrack
