// SPDX-License-Identifier: Apache-2.0
//
// Tests that selection changes what is printed, but never what is summed.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "analyzer/pipeline/testing/report_on.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kKiB = 1 << 10;
constexpr int kSteps = 60;
constexpr uint32_t kLines = 40;

// A training whose lines are each reached with several native stacks, as under a profiler: to a reader they are one.
std::string Trace() {
  JobBuilder job({{"python", "train.py"}, -1, 77, "/env/torch/lib/libtorch_cuda.so"});
  job.Device(64ull << 30);
  std::vector<std::string> functions;
  for (uint32_t line = 0; line < kLines; ++line) {
    functions.push_back("layer" + std::to_string(line));
    for (uint32_t native = 0; native < 3; ++native) {
      job.DefineNative(1 + 3 * line + native,
                       {JobBuilder::kCode + 0x100 + 0x10 * native, JobBuilder::kCode + 0x200 + 0x1000 * line});
    }
  }
  for (int step = 0; step < kSteps; ++step) {
    for (uint32_t line = 0; line < kLines; ++line) {
      const uint32_t native = 1 + 3 * line + static_cast<uint32_t>(step) % 3;
      const uint32_t stack = job.Python({{functions[line].c_str(), line + 1}}, native);
      const JobObject block = job.Block(stack, (line + 1) * 4 * kKiB);
      if (line != 7) job.Free(block);
    }
    job.EndStep();
  }
  return job.Kill();
}

Report ReportWith(size_t top, StackDetail stacks) {
  AnalyzeOptions options;
  options.top = top;
  options.stacks = stacks;
  return ReportOn({Trace()}, options);
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
  const Report all = ReportWith(1000, StackDetail::kUseful);
  const std::map<std::string, Counts> known = CountsOf(all);
  EXPECT_EQ(known.size(), kLines) << "a line is one site";
  uint64_t sites = 0;
  for (const auto& [verdict, count] : all.verdict_counts) sites += count;
  EXPECT_EQ(sites, kLines);
  for (const auto& [id, counts] : known) EXPECT_EQ(std::get<0>(counts), uint64_t{kSteps}) << id;
  for (const size_t top : {1, 5, 20, 1000}) {
    for (const StackDetail stacks : {StackDetail::kUseful, StackDetail::kRaw}) {
      const Report report = ReportWith(top, stacks);
      EXPECT_EQ(report.verdict_counts, all.verdict_counts) << top;
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
}

}  // namespace
}  // namespace vramtrack
