// SPDX-License-Identifier: Apache-2.0
//
// Tests that the figures for a report's charts add up, to the byte, in traces of every shape.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ledger/testing/synthetic_trace.h"
#include "analyzer/pipeline/testing/report_on.h"
#include "proto/testing/job_builder.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

template <class Parts>
void ExpectSum(const Parts& parts, std::vector<uint64_t> sums, const std::vector<uint64_t>& whole) {
  sums.resize(whole.size());
  for (const auto& [name, bytes] : parts) {
    ASSERT_EQ(bytes.size(), whole.size());
    for (size_t i = 0; i < bytes.size(); ++i) sums[i] += bytes[i];
  }
  EXPECT_EQ(sums, whole);
}

void ExpectComposition(const ReportComposition& composition, const std::vector<uint64_t>& live) {
  ExpectSum(composition.categories, {}, live);
  ExpectSum(composition.sites, composition.other_sites, live);
}

void ExpectTree(const ReportPeakStacks& stacks, const Report& report) {
  std::vector<uint64_t> below(stacks.nodes.size());
  uint64_t outermost = 0;
  for (size_t i = 0; i < stacks.nodes.size(); ++i) {
    const ReportPeakStacks::Node& node = stacks.nodes[i];
    ASSERT_LT(node.site.value(), report.sites.size());
    EXPECT_LT(node.frame, report.sites[node.site.value()].frames.size());
    EXPECT_GT(node.sites, 0u);
    if (!node.parent) {
      outermost += node.bytes;
      continue;
    }
    ASSERT_LT(*node.parent, i);
    below[*node.parent] += node.bytes;
  }
  for (size_t i = 0; i < below.size(); ++i) EXPECT_LE(below[i], stacks.nodes[i].bytes);
  EXPECT_LE(outermost + stacks.other_bytes, stacks.live);
}

void ExpectAllAddsUp(const std::string& path, bool steps) {
  const absl::StatusOr<Report> report = Analyze({path});
  ASSERT_TRUE(report.ok()) << report.status();
  for (const ReportTimeline& timeline : report->timeline) {
    ExpectComposition(timeline.at_high, timeline.live.high);
    if (!timeline.peak_step) continue;
    const ReportPeakStep& step = *timeline.peak_step;
    ASSERT_FALSE(step.live.empty());
    EXPECT_LE(step.live.size(), 1000u);
    EXPECT_TRUE(std::is_sorted(step.event.begin(), step.event.end()));
    ExpectComposition(step.consists_of, step.live);
    for (const ReportDevice& device : report->devices) {
      if (device.index != timeline.device) continue;
      EXPECT_EQ(*std::max_element(step.live.begin(), step.live.end()), device.peak.live);
      EXPECT_EQ(step.step, device.peak.step);
    }
  }
  for (const ReportPeakStacks& stacks : report->peak_stacks) ExpectTree(stacks, *report);
  for (const ReportDevice& device : report->devices) {
    const bool has_peak_step = std::any_of(
        report->timeline.begin(), report->timeline.end(),
        [&](const ReportTimeline& timeline) { return timeline.device == device.index && timeline.peak_step; });
    EXPECT_TRUE(!steps || device.peak.live == 0 || has_peak_step);
  }
}

class Composition : public ::testing::Test {
 protected:
  TestFolder folder_;
  const std::string path_ = folder_.NewFile();
};

TEST_F(Composition, OfJobs) {
  for (const SyntheticShape shape : {SyntheticShape::kDriver, SyntheticShape::kPyTorch, SyntheticShape::kSites}) {
    for (const bool steps : {true, false}) {
      for (const uint64_t events : {2000, 8000}) {
        SyntheticTrace wanted;
        wanted.shape = shape;
        wanted.steps = steps;
        wanted.events = events;
        ASSERT_TRUE(WriteSyntheticTrace(path_, wanted));
        ExpectAllAddsUp(path_, steps);
      }
    }
  }
}

TEST_F(Composition, OfOneStepWithManyAllocations) {
  JobBuilder job;
  for (int i = 0; i < 30000; ++i) {
    const JobObject block = job.AllocateAt(0, 0x10000000 + static_cast<uint64_t>(i) * 4096, 512 + i % 7);
    if (i % 3 != 0) job.Free(block);
    if (i == 10 || i == 29990) job.EndStep();
  }
  std::ofstream(path_, std::ios::binary) << job.Finish();
  ExpectAllAddsUp(path_, true);
}

TEST_F(Composition, OfRandomTraces) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << RandomTrace(seed, 3000, 3).trace.Finish();
    ExpectAllAddsUp(path_, false);
  }
}

}  // namespace
}  // namespace vramtrack
