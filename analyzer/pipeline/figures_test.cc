// SPDX-License-Identifier: Apache-2.0
//
// Tests that selection changes what is printed, but never what is summed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/pipeline/analyze.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

using schema::FRAMEWORK_BLOCK;

constexpr uint64_t kKiB = 1 << 10;
constexpr int kSteps = 60;
constexpr uint32_t kLines = 40;

// A training whose lines are each reached with several native stacks, as under a profiler: to a reader they are one.
std::string Trace() {
  TraceBuilder trace;
  trace.DefineProcess(0, 77, {"python", "train.py"});
  trace.DefineDevice(0, 0, "Simulated GPU", 64ull << 30);
  trace.DefineModule(0, 1, "/env/torch/lib/libtorch_cuda.so", 0x400000, 0x400000, 0x500000);
  std::string lines = {4, 0};  // in 3.10's format: lines 1, 2, 3, ... of two instructions each
  for (int i = 1; i < 100; ++i) lines += {4, 1};
  std::vector<std::vector<uint32_t>> stacks(kLines);
  uint32_t next = 10;
  for (uint32_t line = 0; line < kLines; ++line) {
    trace.DefineCode(0, line + 1, "layer" + std::to_string(line), "/job/train.py", 1, schema::LINES_LINETABLE, lines);
    for (uint64_t native = 0; native < 3; ++native) {
      const uint32_t of_native = next++, of_python = next++, joined = next++;
      trace.DefineStack(0, of_native, {0x400100 + 0x10 * native, 0x400200 + 0x1000 * line});
      trace.DefinePythonStack(0, of_python, {{line + 1, 4 * line}});
      trace.DefineJoinedStack(0, joined, of_native, of_python);
      stacks[line].push_back(joined);
    }
  }
  uint64_t time = 1000, address = 0x7f0000000000;
  for (int step = 0; step < kSteps; ++step) {
    for (uint32_t line = 0; line < kLines; ++line) {
      const uint64_t bytes = (line + 1) * 4 * kKiB;
      address += 1 << 20;
      const AllocationId id =
          trace.Allocate(0, ++time, FRAMEWORK_BLOCK, 0, stacks[line][static_cast<size_t>(step) % 3], address, bytes);
      if (line != 7) trace.Free(0, ++time, FRAMEWORK_BLOCK, 0, id);
    }
    trace.Step(0, ++time, static_cast<uint64_t>(step));
  }
  return trace.Kill();
}

Report ReportWith(const std::string& path, size_t top, StackDetail stacks) {
  AnalyzeOptions options;
  options.top = top;
  options.stacks = stacks;
  absl::StatusOr<Report> report = Analyze({path}, options);
  EXPECT_TRUE(report.ok()) << report.status();
  return report.ok() ? *std::move(report) : Report();
}

using Counts = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, std::string>;

std::map<std::string, Counts> CountsOf(const Report& report) {
  std::map<std::string, Counts> counts;
  for (const ReportSite& site : report.sites) {
    counts[site.id] = {site.allocations, site.frees,         site.bytes_allocated, site.live_objects,
                       site.live_bytes,  site.bytes_at_peak, NameOf(site.verdict)};
  }
  return counts;
}

TEST(Figures, DoNotDependOnHowManySitesOrFramesArePrinted) {
  const std::string path = testing::TempDir() + "/figures.vtrace";
  std::ofstream(path, std::ios::binary) << Trace();
  const Report all = ReportWith(path, 1000, StackDetail::kUseful);
  const std::map<std::string, Counts> known = CountsOf(all);
  EXPECT_EQ(known.size(), kLines) << "a line is one site";
  uint64_t sites = 0;
  for (const auto& [verdict, count] : all.verdict_counts) sites += count;
  EXPECT_EQ(sites, kLines);
  for (const auto& [id, counts] : known) EXPECT_EQ(std::get<0>(counts), uint64_t{kSteps}) << id;
  for (const size_t top : {1, 5, 20, 1000}) {
    for (const StackDetail stacks : {StackDetail::kUseful, StackDetail::kRaw}) {
      const Report report = ReportWith(path, top, stacks);
      EXPECT_EQ(report.verdict_counts, all.verdict_counts) << top;
      EXPECT_EQ(report.further_steps_needed, all.further_steps_needed) << top;
      EXPECT_EQ(report.ranking, all.ranking) << top;
      for (const auto& [id, counts] : CountsOf(report)) {
        ASSERT_EQ(known.count(id), 1u) << id;
        EXPECT_EQ(counts, known.at(id)) << id << ", top " << top;
      }
      ASSERT_FALSE(report.sites.empty());
      const ReportSite& leak = report.sites[0];
      ASSERT_TRUE(leak.own_frame.has_value());
      EXPECT_EQ(leak.frames.at(*leak.own_frame).line, 8u);
      EXPECT_EQ(leak.frames.at(leak.blame_frame).line, 8u);
      EXPECT_EQ(leak.frames.size(), stacks == StackDetail::kRaw ? 3u : 1u);
    }
  }
  remove(path.c_str());
}

}  // namespace
}  // namespace vramtrack
