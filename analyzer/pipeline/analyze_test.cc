// SPDX-License-Identifier: Apache-2.0
#include "analyzer/pipeline/testing/report_on.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/model/answer.h"
#include "analyzer/pipeline/analyze.h"
#include "analyzer/render/json/json.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

using schema::DEVICE;
using schema::EVENT;
using schema::PINNED;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kScratch = uint64_t{1} << 39;  // an address

// A job of `steps` steps whose stack 3 leaks 4 MiB in each. Stacks 2, 3 and 4 go through the same wrapper.
class Job : public JobBuilder {
 public:
  explicit Job(int steps, uint32_t pid = 77, bool marks = true)
      : JobBuilder({{"./train", "--fast"}, 2, pid, "/nowhere/bin/train"}) {
    Device(1024 * kMiB);
    trace().DefineModule(0, 2, "/nowhere/lib/libcudart.so.12", 0x7f0000000000, 0x7f0000000000, 0x7f0000100000);
    constexpr uint64_t kCudart = 0x7f0000000040;
    DefineNative(1, {kCudart, kCode + 0x100, kCode + 0x900});
    DefineNative(2, {kCudart, kCode + 0x200, kCode + 0x300, kCode + 0x900});
    DefineNative(3, {kCudart, kCode + 0x200, kCode + 0x400, kCode + 0x900});
    for (const uint32_t stack : {4, 5, 6}) DefineNative(stack, {kCode + 0x100 * (stack + 1), kCode + 0x900});
    NumberSteps(100);
    Allocate(1, 100 * kMiB);
    for (int step = 0; step < steps; ++step) {
      const JobObject temporary = AllocateAt(2, kScratch, 32 * kMiB);
      Allocate(3, 4 * kMiB);
      Free(temporary);
      Allocate(4, 1000, PINNED);
      Allocate(4, 0, EVENT);
      for (const uint32_t stack : {5, 6}) {
        if (!marks) Free(AllocateAt(stack, kScratch, 512));
      }
      if (marks) EndStep();
    }
  }
};

const ReportSite* Find(const Report& report, const std::string& kind, uint64_t bytes_allocated) {
  for (const ReportSite& site : report.sites) {
    if (site.kind == kind && site.bytes_allocated == bytes_allocated) return &site;
  }
  return nullptr;
}

TEST(Analyze, FindsTheLeakAndItsRate) {
  const Report report = ReportOn({Job(60).Finish()});
  ASSERT_FALSE(report.ranking.empty());
  const ReportSite& leak = report.sites[0];
  EXPECT_EQ(report.ranking[0], ReportSiteIndex(0));
  EXPECT_NE(leak.text.find("leaks " + leak.rate), std::string::npos) << leak.text;
  EXPECT_EQ(leak.verdict, Verdict::kLeak);
  EXPECT_EQ(leak.level, Level::kDriver);
  EXPECT_EQ(leak.kind, "device");
  EXPECT_EQ(leak.owner, "train");
  EXPECT_EQ(leak.grade, "driver");
  EXPECT_EQ(leak.rate_bytes_per_step, 4.0 * kMiB);
  EXPECT_EQ(leak.rate_objects_per_step, 1);
  EXPECT_EQ(leak.allocations, 60u);
  EXPECT_EQ(leak.frees, 0u);
  EXPECT_EQ(leak.live_bytes, 240 * kMiB);
  EXPECT_EQ(leak.bytes_at_peak, 240 * kMiB);
  EXPECT_EQ(leak.peak_without_site, 132 * kMiB);
  // libcudart is left out; the wrapper at +0x200 serves a clean site too, so the frame behind it is to blame.
  ASSERT_EQ(leak.frames.size(), 3u);
  EXPECT_EQ(leak.frames[0].offset, 0x200u);
  EXPECT_EQ(leak.blame_frame, 1u);
  EXPECT_EQ(leak.frames[1].offset, 0x400u);

  EXPECT_EQ(report.steps.count, 60u);
  EXPECT_EQ(report.steps.source, StepSource::kMarks);
  ASSERT_EQ(report.processes.size(), 1u);
  EXPECT_TRUE(report.processes[0].complete);
  EXPECT_EQ(report.processes[0].rank, 2);
  ASSERT_EQ(report.devices.size(), 1u);
  const ReportDevice& device = report.devices[0];
  EXPECT_EQ(device.peak.live, (100 + 32 + 240) * kMiB);
  EXPECT_EQ(device.peak.step, 159);
  EXPECT_EQ(device.end.live, 340 * kMiB);
  ASSERT_TRUE(device.growth.has_value());
  EXPECT_EQ(device.growth->bytes_per_step, 4.0 * kMiB);
  ASSERT_TRUE(device.growth->steps_to_oom.has_value());
  EXPECT_NEAR(*device.growth->steps_to_oom, (1024 - 372) / 4.0, 6);
}

// Steps that free all that they take.
std::string SoundJob() {
  JobBuilder job({{"./train"}, 2, 77, "/nowhere/bin/train"});
  job.Device(1024 * kMiB);
  for (const uint32_t stack : {1, 2}) job.DefineNative(stack, {Job::kCode + 0x100 * stack});
  job.Allocate(1, 100 * kMiB);
  for (int step = 0; step < 300; ++step) {
    for (int i = 0; i < 20; ++i) job.Free(job.AllocateAt(2, kScratch, 32 * kMiB));
    job.EndStep();
  }
  return job.Finish();
}

// What is missing may have the leak.
TEST(Analyze, NoLeakNeedsACompleteRecord) {
  const std::string sound = SoundJob();
  const Report whole = ReportOn({sound});
  EXPECT_EQ(AnswerOf(whole), Answer::kNoLeak);
  const Report without = ReportOn({sound, "no trace"});
  EXPECT_EQ(AnswerOf(without), Answer::kNotEnough);
  ASSERT_FALSE(without.reasons.empty());
  EXPECT_EQ(without.reasons[0].id, "incomplete");
  size_t damaged = 0;
  for (size_t part = 1; part < 40; ++part) {
    std::string flipped = sound, cut = sound;
    flipped[sound.size() * part / 40] ^= 1;
    cut.resize(sound.size() * part / 40);
    for (const std::string& trace : {flipped, cut}) {
      TestFolder folder;
      const absl::StatusOr<Report> report = Analyze({folder.Write(trace)}, {});
      if (!report.ok() || report->processes[0].events == whole.processes[0].events) continue;
      ++damaged;
      EXPECT_NE(AnswerOf(*report), Answer::kNoLeak) << part << ": " << report->processes[0].events << " events";
    }
  }
  EXPECT_GT(damaged, 20u);
}

TEST(Analyze, WhatElseIsAllocatedAtALeaksOwnPlaceDoesNotClearIt) {
  Job job(60);
  job.Allocate(3, 4 * kMiB, PINNED);
  const Report report = ReportOn({job.Finish()});
  EXPECT_EQ(report.sites[0].blame_frame, 1u);
}

TEST(Analyze, HandlesAndHostMemoryAreApart) {
  const Report report = ReportOn({Job(60).Finish()});
  const ReportSite* pinned = Find(report, "pinned", 60000);
  ASSERT_NE(pinned, nullptr);
  EXPECT_EQ(pinned->category, "pinned");
  EXPECT_FALSE(pinned->device.has_value());
  EXPECT_EQ(pinned->bytes_at_peak, 60000u);
  const ReportSite* event = Find(report, "event", 0);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->level, Level::kHandle);
  EXPECT_EQ(event->rate_objects_per_step, 1);
  EXPECT_EQ(event->live_objects, 60u);
}

TEST(Analyze, AKilledProcessGivesTheSameFindings) {
  const Report finished = ReportOn({Job(60).Finish()}), killed = ReportOn({Job(60).Kill()});
  EXPECT_FALSE(killed.processes[0].complete);
  EXPECT_NE(killed.processes[0].incomplete_why, "");
  EXPECT_EQ(finished.ranking, killed.ranking);
  EXPECT_EQ(finished.sites[0].rate_bytes_per_step, killed.sites[0].rate_bytes_per_step);
  EXPECT_EQ(finished.devices[0].peak.live, killed.devices[0].peak.live);
}

TEST(Analyze, FindsTheLeakOfAJobThatMarksNoSteps) {
  const Report report = ReportOn({Job(60, 77, false).Finish()});
  EXPECT_EQ(report.steps.source, StepSource::kPeriodicity);
  EXPECT_GT(report.steps.confidence, 0.9);
  EXPECT_NEAR(static_cast<double>(report.steps.count), 60, 1);
  ASSERT_FALSE(report.ranking.empty());
  EXPECT_EQ(report.sites[0].rate_bytes_per_step, 4.0 * kMiB);
}

TEST(Analyze, FragmentationAddsUpAndAdvisesWhereItCosts) {
  // 100 objects of 64 KiB, each in a page of its own.
  JobBuilder job;
  job.Device(1024 * kMiB);
  for (int i = 0; i < 100; ++i) job.Allocate(0, 64 << 10);
  const Report report = ReportOn({job.Finish()});
  const ReportFragmentation& found = report.devices[0].fragmentation;
  EXPECT_EQ(found.reserved, 200 * kMiB);
  EXPECT_EQ(found.live, 6400u << 10);
  EXPECT_EQ(found.reserved, found.live + found.rounding + found.free_releasable + found.free_pinned);
  EXPECT_EQ(found.lower_bound, 6400u << 10);
  EXPECT_EQ(found.upper_bound, 8 * kMiB);
  ASSERT_EQ(found.advice.size(), 1u);
  EXPECT_NE(found.advice[0].text.find("192 MiB of 200 MiB"), std::string::npos) << found.advice[0].text;
  EXPECT_EQ(found.advice[0].saved_bytes, 192 * kMiB);

  const Report tight = ReportOn({Job(30).Finish()});
  EXPECT_TRUE(tight.devices[0].fragmentation.advice.empty());
}

TEST(Analyze, ADamagedTraceIsReadAsFarAsItGoes) {
  std::string bytes = Job(60).Finish();
  bytes.resize(bytes.size() * 3 / 4);
  const Report cut = ReportOn({bytes});
  EXPECT_FALSE(cut.processes[0].complete);
  EXPECT_NE(cut.processes[0].incomplete_why, "");
  EXPECT_FALSE(cut.warnings.empty());
}

TEST(Analyze, TheSameTraceGivesTheSameBytes) {
  // Many sites that tie in everything, two threads whose clocks disagree, and a reset that takes a crowd at once.
  JobBuilder job({}, 10);
  job.Pass(1000000);
  for (uint32_t id = 1; id <= 300; ++id) {
    job.DefineNative(id, {JobBuilder::kCode + 16 * id, JobBuilder::kCode + 0x900});
  }
  for (uint64_t step = 0; step < 40; ++step) {
    for (uint32_t id = 1; id <= 300; ++id) {
      const JobObject made = job.AllocateAt(id, (id + 300 * step) << 13, 4096);
      if (id % 3 != 0) job.trace().Free(1, job.now() - 500000, DEVICE, 0, made.id);
    }
    job.EndStep();
    if (step == 20) job.Event(schema::DEVICE_RESET, schema::KIND_NONE, 0, {});
  }
  TestFolder folder;
  const std::string path = folder.Write(job.Finish());
  const absl::StatusOr<Report> first = Analyze({path}), second = Analyze({path});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(RenderJson(*first), RenderJson(*second));
  EXPECT_GE(first->sites.size(), 20u);
}

TEST(Analyze, ProcessesOfAJobAddUp) {
  const Report report = ReportOn({Job(60, 1).Finish(), Job(60, 2).Finish()});
  EXPECT_EQ(report.processes.size(), 2u);
  EXPECT_EQ(report.sites[0].rate_bytes_per_step, 8.0 * kMiB);
  EXPECT_EQ(report.sites[0].allocations, 120u);
  EXPECT_EQ(report.devices.size(), 1u);
  EXPECT_FALSE(report.warnings.empty());
}

TEST(Analyze, AFewStepsAreNotEnoughEvidence) {
  const Report report = ReportOn({Job(5).Finish()});
  EXPECT_TRUE(report.ranking.empty());
  const ReportSite* site = Find(report, "device", 5 * 4 * kMiB);
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->verdict, Verdict::kInsufficientEvidence);
  EXPECT_FALSE(site->reason.empty());
  EXPECT_FALSE(report.reasons.empty());
}

TEST(Analyze, BadFilesAreOneLineEach) {
  TestFolder folder;
  const std::string good = folder.WriteAs("good.vtrace", Job(3).Finish());
  for (const std::string& bytes :
       {std::string(), std::string("hello, this is a text file of no use"), Job(3).Finish().substr(0, 100)}) {
    const std::string bad = folder.WriteAs("bad.vtrace", bytes);
    const absl::StatusOr<Report> alone = Analyze({bad});
    ASSERT_FALSE(alone.ok());
    EXPECT_NE(std::string(alone.status().message()).find("bad.vtrace"), std::string::npos);
    EXPECT_EQ(std::string(alone.status().message()).find('\n'), std::string::npos);
    const absl::StatusOr<Report> together = Analyze({bad, good});
    ASSERT_TRUE(together.ok());
    EXPECT_EQ(together->processes.size(), 1u);
    EXPECT_FALSE(together->warnings.empty());
  }
  EXPECT_FALSE(Analyze({"/nowhere/at/all.vtrace"}).ok());
}

TEST(Analyze, AnEmptyTraceIsAnEmptyReport) {
  TestFolder folder;
  TraceBuilder trace;
  const Report report = ReportOn({trace.Finish()});
  EXPECT_TRUE(report.sites.empty());
  EXPECT_EQ(report.steps.count, 0u);
}

TEST(Analyze, OutOfMemoryNamesTheHoldersAndTheCause) {
  Job job(60);
  job.Fail(2, 900 * kMiB);
  const Report report = ReportOn({job.Finish()});
  ASSERT_EQ(report.oom.size(), 1u);
  const ReportOom& oom = report.oom[0];
  EXPECT_EQ(oom.step, 160);
  EXPECT_EQ(oom.requested, 900 * kMiB);
  EXPECT_EQ(oom.free, (1024 - 340) * kMiB);
  EXPECT_EQ(oom.cause, OomCause::kAmount);
  EXPECT_FALSE(oom.went_on);
  ASSERT_EQ(oom.holders.size(), 2u);
  EXPECT_EQ(oom.holders[0].first, report.ranking[0]);
  EXPECT_EQ(oom.holders[0].second, 240 * kMiB);
  EXPECT_EQ(oom.holders[1].second, 100 * kMiB);
  ASSERT_TRUE(oom.answer.has_value());
  EXPECT_EQ(oom.answer->site, report.ranking[0]);
  EXPECT_TRUE(oom.answer->leak);
  EXPECT_EQ(oom.answer->other_leaks, 0u);
  EXPECT_EQ(oom.answer->bytes, 240 * kMiB);
  EXPECT_NEAR(oom.answer->share, 240. / 340, 1e-9);
  EXPECT_FALSE(oom.stack.empty());
}

TEST(Analyze, OfManyFailuresTheFirstAndTheLastAreKept) {
  Job job(60);
  for (uint64_t i = 1; i <= 1000; ++i) job.Fail(2, i * kMiB);
  const Report report = ReportOn({job.Finish()});
  ASSERT_FALSE(report.oom.empty());
  EXPECT_LT(report.oom.size(), 100u);
  EXPECT_EQ(report.oom.front().requested, kMiB);
  EXPECT_EQ(report.oom.back().requested, 1000 * kMiB);
}

}  // namespace
}  // namespace vramtrack
