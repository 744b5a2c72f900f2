// SPDX-License-Identifier: Apache-2.0
//
// Jobs whose needs are known, on an emulated device: what steps of a value need, and how much is to be left free.
#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kTotal = 4096 * kMiB;   // for the job
constexpr uint64_t kContext = 500 * kMiB;  // besides

// A job that keeps 400 MiB. Each step takes `needs` MiB for a while, leaves `leaves` MiB behind, and says `value`.
struct Job {
  std::function<uint64_t(uint64_t value)> needs = [](uint64_t value) { return 64 + value; };
  uint64_t leaves = 0;
  bool values = true, fails = false, tells_size = true, asks = true;
};

ReportDevice After(const Job& job, uint64_t steps = 60) {
  JobBuilder told;
  told.Device(job.tells_size ? kTotal + kContext : 0);
  std::mt19937_64 random(3);
  told.Allocate(1, 400 * kMiB);
  if (job.tells_size && job.asks) {
    told.trace().Event(0, told.now() + 1, schema::MEMORY_INFO, schema::KIND_NONE, 0, 0,
                       {kTotal - 400 * kMiB, kTotal + kContext});
    told.Pass(1000);
  }
  for (uint64_t step = 0; step < steps; ++step) {
    const uint64_t value = 10 + random() % 200;
    // Even, so that pages are full.
    const JobObject taken = told.Allocate(2, job.needs(value) / 2 * 2 * kMiB);
    if (job.leaves > 0) told.Allocate(3, job.leaves * kMiB);
    told.Free(taken);
    if (job.fails && step + 1 == steps) told.Fail(4, kTotal);
    told.Pass(1000);
    told.EndStep(job.values ? static_cast<double>(value) : 0);
  }
  ProcessFindings findings = FindInJob(&told);
  EXPECT_EQ(findings.devices.size(), 1u);
  return std::move(findings.devices.at(0));
}

TEST(ValueFindings, AreThoseOfTheJob) {
  const ReportDevice device = After({});
  ASSERT_TRUE(device.by_value.has_value());
  const ReportValueFit& fit = *device.by_value;
  ASSERT_TRUE(fit.line.has_value()) << fit.refused;
  EXPECT_GE(fit.steps, 50u);
  EXPECT_GE(fit.least_value, 10);
  EXPECT_LE(fit.most_value, 209);
  // Sizes are even, values are not: they are off by half a MiB on average.
  EXPECT_NEAR(fit.line->bytes_per_unit, 1.0 * kMiB, .01 * kMiB);
  EXPECT_NEAR(fit.line->fixed_bytes, 463.5 * kMiB, 1.0 * kMiB);
  EXPECT_LE(fit.line->ci_low, 1.0 * kMiB);
  EXPECT_GE(fit.line->ci_high, 1.0 * kMiB);
  EXPECT_GT(fit.line->explained, .999);
  // Four times the largest value fits, and further the line is not followed.
  EXPECT_EQ(fit.line->largest_value, 4 * fit.most_value);
}

TEST(ValueFindings, KnowTheLargestValueThatFits) {
  Job job;
  job.needs = [](uint64_t value) { return 16 * value; };
  const ReportDevice device = After(job);
  ASSERT_TRUE(device.by_value->line.has_value()) << device.by_value->refused;
  // 400 MiB and 16 for each.
  EXPECT_NEAR(device.by_value->line->largest_value.value_or(0), 231, 1);
  job.asks = false;
  EXPECT_LT(After(job).by_value->line->largest_value.value_or(231), 231) << "room for the context";
  job.tells_size = false;
  EXPECT_FALSE(After(job).by_value->line->largest_value.has_value());
}

TEST(ValueFindings, ALeakIsNoPartOfThem) {
  Job job;
  job.leaves = 2;
  const ReportDevice device = After(job);
  ASSERT_TRUE(device.by_value->line.has_value()) << device.by_value->refused;
  EXPECT_NEAR(device.by_value->line->bytes_per_unit, 1.0 * kMiB, .01 * kMiB);
}

TEST(ValueFindings, RefuseWhatTheyCannotTell) {
  Job job;
  job.values = false;
  EXPECT_FALSE(After(job).by_value.has_value());
  job.values = true;
  job.needs = [](uint64_t) { return 64; };
  const ReportDevice same = After(job);
  EXPECT_FALSE(same.by_value->line.has_value());
  EXPECT_NE(same.by_value->refused, "");
  job.needs = [](uint64_t value) { return value * value / 16; };
  EXPECT_FALSE(After(job).by_value->line.has_value());
  EXPECT_FALSE(After({}, 20).by_value->line.has_value()) << "too few steps";
}

TEST(SuggestedLimit, AddsUp) {
  Job job;
  job.needs = [](uint64_t value) { return 64 + value % 100; };
  const ReportDevice device = After(job);
  ASSERT_TRUE(device.suggested_limit.has_value());
  const ReportSuggestedLimit& limit = *device.suggested_limit;
  EXPECT_EQ(limit.refused, "");
  EXPECT_EQ(limit.kept, 400 * kMiB);
  EXPECT_EQ(limit.transient, device.peak.live - 400 * kMiB);
  EXPECT_EQ(limit.others, kContext);
  EXPECT_EQ(limit.fragmentation + limit.growth, 0u);
  EXPECT_EQ(limit.headroom, limit.transient + kContext);
  EXPECT_EQ(limit.max_memory + limit.headroom, kTotal + kContext);
  // With the suggested amount kept instead, the peak just fits.
  EXPECT_EQ(limit.max_memory + (device.peak.live - limit.kept), kTotal);
}

TEST(SuggestedLimit, IsNoneWhereNoneHelps) {
  Job job;
  job.leaves = 2;
  const ReportDevice leaks = After(job);
  ASSERT_TRUE(leaks.suggested_limit.has_value());
  EXPECT_EQ(leaks.suggested_limit->max_memory, 0u);
  EXPECT_NE(leaks.suggested_limit->refused.find("leaks"), std::string::npos);
  job.leaves = 0;
  job.fails = true;
  const ReportDevice full = After(job);
  EXPECT_EQ(full.suggested_limit->max_memory, 0u);
  EXPECT_NE(full.suggested_limit->refused.find("failed"), std::string::npos);
  job.fails = job.asks = false;
  const ReportDevice without_context = After(job);
  EXPECT_EQ(without_context.suggested_limit->max_memory, 0u);
  EXPECT_NE(without_context.suggested_limit->refused.find("CUDA context"), std::string::npos);
  job.tells_size = false;
  EXPECT_FALSE(After(job).suggested_limit.has_value());
  EXPECT_FALSE(After({}, 12).suggested_limit.has_value()) << "too few steps";
}

}  // namespace
}  // namespace vramtrack
