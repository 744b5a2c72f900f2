// SPDX-License-Identifier: Apache-2.0
//
// Tests of jobs without steps: a service that answers requests of many kinds at random times.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "analyzer/diff/diff.h"
#include "analyzer/pipeline/testing/report_on.h"
#include "analyzer/render/text/diff_text.h"
#include "analyzer/render/text/text.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

constexpr uint64_t kKiB = 1 << 10;
constexpr double kGiB = 1 << 30;
constexpr uint32_t kLeak = 50, kSetup = 51, kQueue = 52, kStacks = 40;

struct Service {
  std::string trace;
  double allocated = 0;  // by requests, in bytes
  double leaked = 0;
  uint64_t ns = 0;
};

// `leak_share`: of the requests that leave 64 KiB behind. `queues`: each puts an object into a queue, and every other
// takes the oldest out.
Service Serve(int requests, double leak_share, uint64_t seed, bool queues = false) {
  std::mt19937_64 random(seed);
  const auto uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  JobBuilder job({{"./serve"}}, 1000);
  job.Device(64ull << 30);
  Service service;
  for (int i = 0; i < 20; ++i) job.Allocate(kSetup, 256 << 20);
  std::deque<JobObject> queue;
  for (int request = 0; request < requests; ++request) {
    job.Pass(static_cast<uint64_t>(1e6 * uniform()));
    std::vector<JobObject> held;
    const int pieces = 1 + static_cast<int>(8 * uniform());
    for (int i = 0; i < pieces; ++i) {
      const auto bytes = static_cast<uint64_t>((16 + 200 * uniform()) * kKiB);
      held.push_back(job.Allocate(1 + static_cast<uint32_t>(kStacks * uniform() * uniform()), bytes));
      service.allocated += static_cast<double>(bytes);
    }
    if (queues) {
      queue.push_back(job.Allocate(kQueue, 64 * kKiB));
      if (request % 2 == 1) {
        job.Free(queue.front());
        queue.pop_front();
      }
    }
    if (uniform() < leak_share) {
      job.Allocate(kLeak, 64 * kKiB);
      service.leaked += 64 * kKiB;
    }
    for (const JobObject& object : held) job.Free(object);
  }
  service.ns = job.now();
  service.trace = job.Finish();
  return service;
}

// All that is alive is young: as old as what was freed became.
TEST(Windows, AQueueThatOnlyGrowsIsNotFine) {
  const Report report = ReportOn({Serve(4000, 0, 1, /*queues=*/true).trace});
  EXPECT_EQ(report.steps.unit, StepUnit::kWindow);
  EXPECT_TRUE(report.ranking.empty());
  EXPECT_EQ(AnswerOf(report), Answer::kNotEnough) << RenderText(report, TextStyle(), {10, /*verbose=*/true, {}, false});
}

TEST(Windows, ALeakAtRandomTimesIsFoundWithItsRatePerGiBAllocatedAndPerSecond) {
  for (const uint64_t seed : {1, 2, 3}) {
    const Service service = Serve(4000, .2, seed);
    const Report report = ReportOn({service.trace});
    EXPECT_EQ(report.steps.source, StepSource::kNone);
    EXPECT_EQ(report.steps.unit, StepUnit::kWindow);
    EXPECT_NEAR(static_cast<double>(report.steps.count), 100, 2);
    EXPECT_GT(report.steps.window_bytes, 0u);
    ASSERT_EQ(report.ranking.size(), 1u) << seed;
    const ReportSite& leak = report.sites[0];
    EXPECT_EQ(leak.verdict, Verdict::kLeak);
    EXPECT_EQ(leak.rate_unit, RateUnit::kGiB);
    const double truth = service.leaked / (service.allocated / kGiB);
    EXPECT_NEAR(leak.rate_bytes_per_step / truth, 1, .1);
    EXPECT_LT(leak.rate_ci_low, leak.rate_bytes_per_step);
    EXPECT_GT(leak.rate_ci_high, leak.rate_bytes_per_step);
    EXPECT_NEAR(leak.rate_bytes_per_second / (service.leaked / (1e-9 * static_cast<double>(service.ns))), 1, .15);
    EXPECT_EQ(leak.explanation.find("step"), std::string::npos) << leak.explanation;
    const std::string text = RenderText(report, TextStyle(), {10, /*verbose=*/true, {}, false});
    EXPECT_NE(text.find(" per GiB allocated"), std::string::npos) << text;
    EXPECT_NE(text.find(" per second"), std::string::npos) << text;
  }
}

TEST(Windows, WithoutALeakNoneIsClaimed) {
  for (const uint64_t seed : {1, 2, 3, 4, 5}) {
    const Report report = ReportOn({Serve(4000, 0, seed).trace});
    EXPECT_EQ(report.steps.unit, StepUnit::kWindow);
    EXPECT_TRUE(report.ranking.empty()) << seed;
  }
}

TEST(Windows, AFewAllocationsDecideNothing) {
  for (const int requests : {0, 1, 10}) {
    const Report report = ReportOn({Serve(requests, 0, 1).trace});
    EXPECT_TRUE(report.ranking.empty());
    EXPECT_TRUE(std::any_of(report.reasons.begin(), report.reasons.end(), [](const ReportReason& reason) {
      return reason.id == "no_steps" || reason.id == "few_allocations";
    }));
  }
}

// They still show who grows.
TEST(Windows, FewAllocationsNameASuspect) {
  const Report report = ReportOn({Serve(40, 1, 1).trace});
  EXPECT_EQ(AnswerOf(report), Answer::kNotEnough);
  ASSERT_FALSE(report.devices.empty());
  ASSERT_TRUE(report.devices[0].growth && report.devices[0].growth->ledger);
  const ReportGrowthLedger& ledger = *report.devices[0].growth->ledger;
  ASSERT_FALSE(ledger.lines.empty());
  EXPECT_EQ(ledger.lines[0].verdict, Verdict::kInsufficientEvidence);
  EXPECT_GT(ledger.lines[0].per_step, 0);
  EXPECT_GE(report.reasons.size(), 2u);
}

// Of which one is half as long, so that its windows would be half as large.
TEST(Windows, RatesOfTwoRunsAreComparedPerGiBAllocated) {
  const Service base = Serve(2000, 0.1, 1), next = Serve(4000, 0.4, 2);
  TestFolder folder;
  const absl::StatusOr<DiffReport> report = Diff({folder.Write(base.trace)}, {folder.Write(next.trace)}, {});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->base.steps.unit, StepUnit::kWindow);
  EXPECT_EQ(report->base.steps.window_bytes, report->next.steps.window_bytes);
  EXPECT_EQ(report->rate_unit, RateUnit::kGiB);
  ASSERT_EQ(report->grown.size(), 1u);
  EXPECT_TRUE(report->added.empty() && report->gone.empty() && report->shrunk.empty());
  const DiffFinding& leak = report->grown[0];
  EXPECT_EQ(leak.unit, ChangeUnit::kBytesLivePerStep);
  EXPECT_EQ(leak.rate_unit, RateUnit::kGiB);
  EXPECT_NEAR(leak.base_value, base.leaked / base.allocated * kGiB, 0.15 * leak.base_value);
  EXPECT_NEAR(leak.new_value, next.leaked / next.allocated * kGiB, 0.15 * leak.new_value);
  EXPECT_NE(RenderDiffText(*report, {}, 10).find(" per GiB allocated"), std::string::npos);
}

}  // namespace
}  // namespace vramtrack
