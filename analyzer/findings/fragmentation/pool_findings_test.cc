// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"
#include "analyzer/model/process_findings.h"
#include "proto/pool_setting.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kBase = uint64_t{1} << 40;
constexpr uint64_t kOther = 0xabc0;  // a pool's handle

class PoolJob : public JobBuilder {
 public:
  JobObject Take(uint64_t pages, uint64_t bytes, uint64_t pool = 0) {
    return AllocateAt(1, kBase + pages * 2 * kMiB, bytes, pool == 0 ? schema::STREAM_ORDERED : schema::POOL, pool);
  }
  JobObject Create(uint64_t pool) { return AllocateAt(2, pool, 0, schema::MEMORY_POOL); }
  void Threshold(uint64_t bytes, uint64_t pool = 0) {
    Event(schema::LIMIT, schema::MEMORY_POOL, 1, {PoolSetting(pool, 4), bytes});
  }
  void Trim(uint64_t pool, uint64_t keep) { Event(schema::TRIM, schema::MEMORY_POOL, 0, {pool, keep}); }
  std::vector<ReportMemoryPool> Pools() {
    const ProcessFindings findings = FindInJob(this);
    EXPECT_EQ(findings.devices.size(), 1u);
    for (const ReportMemoryPool& pool : findings.devices[0].memory_pools) {
      EXPECT_EQ(pool.reserved, pool.live + pool.rounding + pool.free_pinned + pool.free_releasable);
      EXPECT_LE(pool.lower_bound, pool.upper_bound);
      EXPECT_LE(pool.free_releasable_at_least, pool.free_releasable);
    }
    return findings.devices[0].memory_pools;
  }
};

TEST(PoolFindings, WhatIsFreedMayBeHeldUntilThePoolIsTrimmed) {
  PoolJob job;
  const JobObject large = job.Take(0, 40 * kMiB), small = job.Take(20, kMiB / 2);
  job.Free(large);
  job.Trim(0x77, 0);  // the device's own pool, by a handle that nothing was taken from
  const JobObject again = job.Take(0, 10 * kMiB);
  job.Free(again);
  job.Free(small);
  const std::vector<ReportMemoryPool> pools = job.Pools();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].pool, "default");
  EXPECT_EQ(pools[0].allocations, 3u);
  EXPECT_EQ(pools[0].trims, 1u);
  EXPECT_EQ(pools[0].peak_live, 40 * kMiB + kMiB / 2);
  EXPECT_EQ(pools[0].upper_bound, 42 * kMiB);
  EXPECT_EQ(pools[0].reserved, 42 * kMiB);
  EXPECT_EQ(pools[0].free_releasable, 40 * kMiB) << "before it was trimmed";
  EXPECT_EQ(pools[0].free_pinned, 2 * kMiB - kMiB / 2);
  EXPECT_EQ(pools[0].release_threshold, 0u);
  EXPECT_EQ(pools[0].free_releasable_at_least, 0u) << "each wait gives back what is free";
}

TEST(PoolFindings, BelowTheThresholdItIsHeldForSure) {
  PoolJob job;
  job.Threshold(16 * kMiB);
  job.Free(job.Take(0, 40 * kMiB));
  const std::vector<ReportMemoryPool> pools = job.Pools();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].release_threshold, 16 * kMiB);
  EXPECT_EQ(pools[0].free_releasable, 40 * kMiB);
  EXPECT_EQ(pools[0].free_releasable_at_least, 16 * kMiB);
}

TEST(PoolFindings, TwoPoolsAreTwo) {
  PoolJob job;
  job.Threshold(UINT64_MAX);
  const JobObject own = job.Take(0, 8 * kMiB), other = job.Take(50, 20 * kMiB, kOther);
  job.Free(other);
  job.Trim(kOther, 4 * kMiB);
  job.Free(job.Take(50, 6 * kMiB, kOther));
  job.Free(own);
  const std::vector<ReportMemoryPool> pools = job.Pools();
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_EQ(pools[0].pool, "default");
  EXPECT_EQ(pools[0].free_releasable, 8 * kMiB);
  EXPECT_EQ(pools[1].pool, "0xabc0");
  EXPECT_EQ(pools[1].peak_live, 20 * kMiB);
  EXPECT_EQ(pools[1].free_releasable, 20 * kMiB);
  EXPECT_EQ(pools[1].trims, 1u);
  EXPECT_FALSE(pools[1].release_threshold) << "an older trace does not say for which pool the threshold was set";
}

TEST(PoolFindings, AThresholdIsOfItsPool) {
  PoolJob job;
  job.Create(kOther);
  job.Threshold(UINT64_MAX, kOther);
  job.Free(job.Take(0, 8 * kMiB));
  job.Free(job.Take(50, 20 * kMiB, kOther));
  const std::vector<ReportMemoryPool> pools = job.Pools();
  ASSERT_EQ(pools.size(), 2u);
  EXPECT_EQ(pools[0].release_threshold, 0u);
  EXPECT_EQ(pools[0].free_at_end, 0u);
  EXPECT_EQ(pools[1].release_threshold, UINT64_MAX);
  EXPECT_EQ(pools[1].free_at_end, 20 * kMiB);
}

TEST(PoolFindings, ADestroyedPoolKeepsNothing) {
  PoolJob job;
  const JobObject pool = job.Create(kOther);
  job.Threshold(UINT64_MAX, kOther);
  job.Free(job.Take(50, 20 * kMiB, kOther));
  job.Free(pool);
  job.Create(kOther);  // another one, of the same handle
  job.Free(job.Take(50, 4 * kMiB, kOther));
  const std::vector<ReportMemoryPool> pools = job.Pools();
  ASSERT_EQ(pools.size(), 1u);
  EXPECT_EQ(pools[0].peak_live, 20 * kMiB);
  EXPECT_EQ(pools[0].free_at_end, 0u);
}

TEST(PoolFindings, OfManyPoolsTheLargestAreListed) {
  PoolJob job;
  uint64_t all = 0;
  for (uint64_t i = 1; i <= 60; ++i) {
    job.Create(kOther * i);
    job.Free(job.Take(100 * i, i * 2 * kMiB, kOther * i));
    all += i * 2 * kMiB;
  }
  const std::vector<ReportMemoryPool> pools = job.Pools();
  ASSERT_EQ(pools.size(), 8u);
  EXPECT_EQ(pools[0].reserved, 120 * kMiB);
  EXPECT_EQ(pools[7].pool, "53 others");
  uint64_t listed = 0;
  for (const ReportMemoryPool& pool : pools) listed += pool.reserved;
  EXPECT_EQ(listed, all);
}

TEST(PoolFindings, WhatPoolsKeepIsAtTheLineThatMadeThem) {
  PoolJob job;
  constexpr uint64_t kSteps = 40;
  for (uint64_t i = 1; i <= kSteps; ++i) {
    job.Create(kOther * i);
    job.Threshold(UINT64_MAX, kOther * i);
    job.Free(job.Take(100 * i, 8 * kMiB, kOther * i));
    job.EndStep();
  }
  const ProcessFindings findings = FindInJob(&job);
  uint64_t kept = 0;
  for (const ReportSite& site : findings.sites) {
    if (site.kind == "memory_pool") kept += site.kept_in_pools;
  }
  EXPECT_EQ(kept, kSteps * 8 * kMiB);
}

}  // namespace
}  // namespace vramtrack
