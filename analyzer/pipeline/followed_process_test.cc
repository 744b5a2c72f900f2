// SPDX-License-Identifier: Apache-2.0
#include "analyzer/findings/followed_process.h"

#include <gtest/gtest.h>

#include <deque>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/findings/find_in_process.h"
#include "analyzer/pipeline/testing/running_trace.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

// A training loop: a loss is kept in each step, activations are not. A second thread allocates as well.
class Training {
 public:
  explicit Training(JobBuilder* job) : job_(*job) {
    for (uint32_t i = 0; i < 4; ++i) job_.Block(10 + i, 4 << 20);
  }

  void Step() {
    std::vector<JobObject> activations;
    for (uint32_t i = 0; i < 20; ++i) {
      activations.push_back(job_.Block(20 + i, 1 << 20));
      job_.OfThread(i % 2);
    }
    job_.OfThread(0);
    job_.Block(50, 64 << 10);
    for (const JobObject& activation : activations) job_.Free(activation);
    job_.Pass(10'000'000);  // 10 ms
    job_.EndStep();
  }

 private:
  JobBuilder& job_;
};

const ReportSite* LeakOf(const ProcessFindings& findings) {
  for (const ReportSite& site : findings.sites) {
    if (IsLeak(site)) return &site;
  }
  return nullptr;
}

void ExpectSame(const ProcessFindings& a, const ProcessFindings& b) {
  EXPECT_EQ(a.steps.count, b.steps.count);
  EXPECT_EQ(a.verdict_counts, b.verdict_counts);
  ASSERT_EQ(a.sites.size(), b.sites.size());
  for (size_t i = 0; i < a.sites.size(); ++i) {
    EXPECT_EQ(a.sites[i].verdict, b.sites[i].verdict);
    EXPECT_EQ(a.sites[i].explanation, b.sites[i].explanation);
    EXPECT_EQ(a.sites[i].live_bytes, b.sites[i].live_bytes);
    EXPECT_EQ(a.sites[i].allocations, b.sites[i].allocations);
    EXPECT_EQ(a.sites[i].bytes_at_peak, b.sites[i].bytes_at_peak);
    EXPECT_EQ(a.sites[i].rate_ci_low, b.sites[i].rate_ci_low);
    EXPECT_EQ(a.sites[i].rate_ci_high, b.sites[i].rate_ci_high);
  }
  ASSERT_EQ(a.devices.size(), b.devices.size());
  for (size_t i = 0; i < a.devices.size(); ++i) {
    EXPECT_EQ(a.devices[i].end.live, b.devices[i].end.live);
    EXPECT_EQ(a.devices[i].peak.live, b.devices[i].peak.live);
    EXPECT_EQ(a.devices[i].growth.has_value(), b.devices[i].growth.has_value());
  }
}

// Compares a look with the first look of another FollowedProcess, and returns how many events that one replayed.
uint64_t ExpectLikeFirstLook(const ProcessFindings& findings, const std::string& path) {
  FollowedProcess fresh(path);
  const absl::StatusOr<ProcessFindings> expected = fresh.Look({});
  EXPECT_TRUE(expected.ok()) << expected.status();
  if (expected.ok()) ExpectSame(findings, *expected);
  return fresh.replayed();
}

TEST(FollowedProcess, ReadsOnlyWhatIsNewAndSaysTheSame) {
  RunningTrace trace;
  Training training(&trace.job);
  FollowedProcess followed(trace.path());
  uint64_t whole = 0;
  for (int look = 0; look < 12; ++look) {
    for (int step = 0; step < 25; ++step) training.Step();
    if (look % 3 == 1) trace.job.trace().Seal(0);
    if (look % 3 == 2) trace.job.trace().Seal(1);
    trace.Write();
    const absl::StatusOr<ProcessFindings> findings = followed.Look({});
    ASSERT_TRUE(findings.ok()) << findings.status();
    const uint64_t all = ExpectLikeFirstLook(*findings, trace.path());
    EXPECT_EQ(followed.replayed() + whole, all) << look;
    whole = all;
  }
  trace.Finish();
  const absl::StatusOr<ProcessFindings> ended = followed.Look({});
  ASSERT_TRUE(ended.ok()) << ended.status();
  ASSERT_NE(LeakOf(*ended), nullptr);
  EXPECT_EQ(LeakOf(*ended)->rate_bytes_per_step, 64 << 10);
  EXPECT_EQ(ended->steps.count, 300u);
  EXPECT_FALSE(ended->timeline.empty());
  // A file that does not change any more is not read again.
  ASSERT_TRUE(followed.Look({}).ok());
  EXPECT_EQ(followed.replayed(), 0u);
}

TEST(FollowedProcess, LeavesOutTheNewestEventsOfAProcessThatRuns) {
  RunningTrace trace;
  Training training(&trace.job);
  for (int step = 0; step < 100; ++step) training.Step();
  trace.Write();
  FollowedProcess followed(trace.path());
  const absl::StatusOr<ProcessFindings> findings = followed.Look({});
  ASSERT_TRUE(findings.ok()) << findings.status();
  // A step takes 10 ms, and 100 ms are left out.
  EXPECT_GE(findings->steps.count, 88u);
  EXPECT_LE(findings->steps.count, 91u);
}

// A step of a job without marks: its loop is found by its period.
void UnmarkedStep(JobBuilder* job) {
  std::vector<JobObject> work;
  for (uint32_t i = 0; i < 8; ++i) work.push_back(job->Block(70 + i, 1 << 20));
  for (const JobObject& one : work) job->Free(one);
  job->Pass(1'000'000);
}

TEST(FollowedProcess, FindsThePeriodWithoutReadingAgain) {
  RunningTrace trace;
  FollowedProcess followed(trace.path());
  uint64_t whole = 0;
  for (int look = 0; look < 6; ++look) {
    for (int step = 0; step < 300; ++step) UnmarkedStep(&trace.job);
    if (look % 2 == 1) trace.job.trace().Seal(0);
    trace.Write();
    const absl::StatusOr<ProcessFindings> findings = followed.Look({});
    ASSERT_TRUE(findings.ok()) << findings.status();
    EXPECT_EQ(findings->steps.source, StepSource::kPeriodicity);
    FollowedProcess fresh(trace.path());
    const absl::StatusOr<ProcessFindings> expected = fresh.Look({});
    ASSERT_TRUE(expected.ok()) << expected.status();
    ExpectSame(*findings, *expected);
    EXPECT_EQ(followed.replayed_for_steps() + whole, fresh.replayed_for_steps()) << look;
    whole = fresh.replayed_for_steps();
  }
}

TEST(FollowedProcess, BeginsAnewWhenTheStepsTurnOutToBeOthers) {
  RunningTrace trace;
  Training training(&trace.job);
  JobBuilder& job = trace.job;
  for (int i = 0; i < 300; ++i) UnmarkedStep(&job);
  trace.Write();
  FollowedProcess followed(trace.path());
  ASSERT_TRUE(followed.Look({}).ok());
  for (int i = 0; i < 400; ++i) training.Step();
  trace.Write();
  const absl::StatusOr<ProcessFindings> findings = followed.Look({});
  ASSERT_TRUE(findings.ok()) << findings.status();
  EXPECT_EQ(followed.replayed(), ExpectLikeFirstLook(*findings, trace.path()));
}

TEST(FollowedProcess, BeginsAnewWhenAFreeTurnsOutToHaveFailed) {
  RunningTrace trace;
  Training training(&trace.job);
  JobBuilder& job = trace.job;
  const JobObject kept = job.Allocate(90, 8 << 20);
  for (int step = 0; step < 40; ++step) training.Step();
  job.Free(kept);
  job.Pass(500'000'000);
  job.OfThread(1);
  job.Allocate(91, 1 << 20);
  job.Pass(500'000'000);
  job.Allocate(91, 1 << 20);
  job.OfThread(0);
  trace.Write();
  FollowedProcess followed(trace.path());
  absl::StatusOr<ProcessFindings> findings = followed.Look({});
  ASSERT_TRUE(findings.ok()) << findings.status();
  job.Event(schema::FREE_FAILED, schema::DEVICE, 90, {1});
  for (int step = 0; step < 60; ++step) training.Step();
  trace.Write();
  findings = followed.Look({});
  ASSERT_TRUE(findings.ok()) << findings.status();
  EXPECT_EQ(followed.replayed(), ExpectLikeFirstLook(*findings, trace.path()));
}

TEST(FollowedProcess, AnotherProcessInTheSameFileIsAnother) {
  RunningTrace trace;
  Training training(&trace.job);
  for (int step = 0; step < 40; ++step) training.Step();
  trace.Write();
  FollowedProcess followed(trace.path());
  ASSERT_TRUE(followed.Look({}).ok());
  RunningTrace other;
  for (int step = 0; step < 30; ++step) {
    other.job.Free(other.job.Allocate(7, 3 << 20));
    other.job.Pass(10'000'000);
    other.job.EndStep();
  }
  std::ofstream(trace.path(), std::ios::binary) << other.job.Kill();
  const absl::StatusOr<ProcessFindings> findings = followed.Look({});
  ASSERT_TRUE(findings.ok()) << findings.status();
  ExpectLikeFirstLook(*findings, trace.path());
}

TEST(FollowedProcess, SaysWhatIsWrongWithAFile) {
  TestFolder folder;
  FollowedProcess followed(folder.path() + "/none.vtrace");
  EXPECT_FALSE(followed.Look({}).ok());
  folder.WriteAs("none.vtrace", "no trace at all");
  EXPECT_FALSE(followed.Look({}).ok());
}

}  // namespace
}  // namespace vramtrack
