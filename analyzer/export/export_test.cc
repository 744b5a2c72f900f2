// SPDX-License-Identifier: Apache-2.0
//
// Tests that the exported figures add up to what was allocated, as counted without the ledger.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "analyzer/export/exporter.h"
#include "proto/testing/job_builder.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

using At = ExportOptions::At;
using Levels = ExportOptions::Levels;

constexpr uint64_t kMiB = 1 << 20;

std::string Export(const std::string& bytes, const std::string& format, const ExportOptions& options,
                   absl::Status* status = nullptr) {
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(bytes, "test.vtrace");
  EXPECT_TRUE(trace.ok()) << trace.status();
  std::string file;
  const std::unique_ptr<Exporter> exporter = FindExportFormat(format)->make(options, [&file](std::string_view piece) {
    file += piece;
    return true;
  });
  absl::StatusOr<std::unique_ptr<ExportedProcess>> process = ExportedProcess::Make(**trace, options);
  if (status != nullptr) *status = process.status();
  if (!process.ok()) return "";
  EXPECT_TRUE(exporter->Add(**process).ok());
  exporter->Finish();
  return file;
}

// Of a file of folded stacks: values by device and stack's innermost frame.
std::map<std::pair<std::string, std::string>, uint64_t> Folded(const std::string& file) {
  std::map<std::pair<std::string, std::string>, uint64_t> values;
  for (const std::string& line : std::vector<std::string>(absl::StrSplit(file, '\n', absl::SkipEmpty()))) {
    const size_t space = line.rfind(' ');
    const std::vector<std::string> frames = absl::StrSplit(line.substr(0, space), ';');
    uint64_t value = 0;
    EXPECT_TRUE(absl::SimpleAtoi(line.substr(space + 1), &value)) << line;
    values[{frames[1], frames.back()}] += value;
  }
  return values;
}

uint64_t Sum(const std::string& file, const std::string& device) {
  uint64_t sum = 0;
  for (const auto& [key, value] : Folded(file)) sum += key.first == device ? value : 0;
  return sum;
}

// A job of two levels: segments from the driver, blocks in them, other memory of the driver, pinned memory. What is
// live is known at each moment.
struct Job : JobBuilder {
  struct Level {
    uint64_t blocks = 0, others = 0, pinned = 0;
  };
  std::vector<Level> after_step;
  Level peak, now;
  std::map<uint32_t, uint64_t> allocated_in_step;  // bytes of blocks

  Job(uint32_t seed, uint32_t steps) {
    std::mt19937 random(seed);
    std::vector<JobObject> live;
    uint64_t at = 0, end = 0;
    NumberSteps(50);
    for (uint32_t step = 0; step < steps; ++step) {
      for (int i = 0; i < 40; ++i) {
        const uint64_t bytes = (1 + random() % 64) * 512;
        if (at + bytes > end) {
          Gap(64 * kMiB);
          at = Allocate(1, 2 * kMiB).address;
          end = at + 2 * kMiB;
        }
        live.push_back(BlockAt(2 + random() % 2, at, bytes));
        at += bytes;
        now.blocks += bytes;
        allocated_in_step[step] += bytes;
        if (now.blocks > peak.blocks) peak = now;
        while (live.size() > 20 + random() % 60) {
          const size_t victim = random() % live.size();
          Free(live[victim]);
          now.blocks -= live[victim].bytes;
          live.erase(live.begin() + static_cast<long>(victim));
        }
      }
      now.others += Allocate(4, 1000 + step).bytes;
      now.pinned += Allocate(5, 4096, schema::PINNED).bytes;
      EndStep();
      after_step.push_back(now);
    }
  }
};

TEST(Export, AddsUpAtEachMoment) {
  for (uint32_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(seed);
    Job job(seed, 12);
    const std::string bytes = job.Finish();
    ExportOptions options;
    const std::string at_peak = Export(bytes, "folded", options);
    EXPECT_EQ(Sum(at_peak, "cuda:0"), job.peak.blocks + job.peak.others);
    EXPECT_EQ(Sum(at_peak, "host"), job.now.pinned);  // the host has its peak at the end
    for (uint32_t step = 0; step < job.after_step.size(); ++step) {
      options.at = At::kStep;
      options.step = 50 + step;
      const Job::Level& level = job.after_step[step];
      const std::string file = Export(bytes, "folded", options);
      EXPECT_EQ(Sum(file, "cuda:0"), level.blocks + level.others);
      EXPECT_EQ(Sum(file, "host"), level.pinned);
    }
    options.at = At::kEnd;
    options.levels = Levels::kFramework;
    EXPECT_EQ(Sum(Export(bytes, "folded", options), "cuda:0"), job.now.blocks);
    options.levels = Levels::kDriver;
    EXPECT_EQ(Sum(Export(bytes, "folded", options), "cuda:0") % (2 * kMiB), job.now.others);  // and segments
  }
}

TEST(Export, SpansOfStepsMakeTheWhole) {
  Job job(3, 12);
  const std::string bytes = job.Finish();
  ExportOptions options;
  options.value = "alloc_space";
  options.levels = Levels::kFramework;
  const uint64_t whole = Sum(Export(bytes, "folded", options), "cuda:0");
  uint64_t sum = 0;
  for (const auto& [first, last] : {std::pair{0u, 3u}, {4u, 4u}, {5u, 11u}}) {
    options.steps = {50 + first, 50 + last};
    options.at = At::kStep;
    options.step = 50 + last;
    const uint64_t part = Sum(Export(bytes, "folded", options), "cuda:0");
    uint64_t expected = 0;
    for (uint32_t step = first; step <= last; ++step) expected += job.allocated_in_step[step];
    EXPECT_EQ(part, expected);
    sum += part;
  }
  EXPECT_EQ(sum, whole);
}

TEST(Export, SaysWhatThereIsNot) {
  Job job(1, 4);
  const std::string bytes = job.Finish();
  ExportOptions options;
  absl::Status status;
  options.at = At::kStep;
  options.step = 54;
  Export(bytes, "folded", options, &status);
  EXPECT_EQ(status.message(), "test.vtrace: there is no step 54: it has 4 complete ones, from 50 to 53");
  options.at = At::kOom;
  Export(bytes, "folded", options, &status);
  EXPECT_EQ(status.message(), "test.vtrace: no allocation failed for lack of memory");
}

TEST(Export, AnyTraceInAnyFormatAndAlwaysTheSame) {
  const std::vector<std::string> formats = {"pprof", "torch-snapshot", "perfetto", "speedscope", "folded", "csv"};
  for (uint64_t seed = 1; seed <= 12; ++seed) {
    RandomTrace random(seed, 400, 3);
    const std::string bytes = random.trace.Finish();
    for (const std::string& format : formats) {
      SCOPED_TRACE(format);
      ExportOptions options;
      options.at = seed % 2 == 0 ? At::kEnd : At::kPeak;
      options.analyze.threads = 1 + seed % 3;
      const std::string file = Export(bytes, format, options);
      EXPECT_FALSE(file.empty() && format != "folded");
      options.analyze.threads = 1;
      EXPECT_EQ(Export(bytes, format, options), file);
    }
  }
}

TEST(Export, ATraceWithNothingInIt) {
  TraceBuilder empty;
  empty.DefineProcess(0, 1, {"./a"});
  const std::string bytes = empty.Finish();
  for (const std::string format : {"pprof", "torch-snapshot", "perfetto", "speedscope"}) {
    EXPECT_FALSE(Export(bytes, format, {}).empty()) << format;
  }
}

}  // namespace
}  // namespace vramtrack
