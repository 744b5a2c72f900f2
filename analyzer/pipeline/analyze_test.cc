// SPDX-License-Identifier: Apache-2.0
#include "analyzer/pipeline/analyze.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/render/json/json.h"
#include "proto/trace_builder.h"

namespace vramtrack {
namespace {

using schema::DEVICE;
using schema::EVENT;
using schema::PINNED;

constexpr uint64_t kMiB = 1 << 20;
constexpr uint64_t kCode = 0x400000;

// A job of `steps` steps whose stack 3 leaks 4 MiB in each. Stacks 2, 3 and 4 go through the same wrapper.
struct Job {
  TraceBuilder trace;
  uint64_t time = 1000;

  explicit Job(int steps, uint32_t pid = 77, bool marks = true) {
    trace.DefineProcess(0, pid, {"./train", "--fast"}, 2);
    trace.DefineDevice(0, 0, "Simulated GPU", 1024 * kMiB);
    trace.DefineModule(0, 1, "/nowhere/bin/train", kCode, kCode, kCode + 0x100000);
    trace.DefineModule(0, 2, "/nowhere/lib/libcudart.so.12", 0x7f0000000000, 0x7f0000000000, 0x7f0000100000);
    constexpr uint64_t kCudart = 0x7f0000000040;
    trace.DefineStack(0, 1, {kCudart, kCode + 0x100, kCode + 0x900});
    trace.DefineStack(0, 2, {kCudart, kCode + 0x200, kCode + 0x300, kCode + 0x900});
    trace.DefineStack(0, 3, {kCudart, kCode + 0x200, kCode + 0x400, kCode + 0x900});
    trace.DefineStack(0, 4, {kCode + 0x500, kCode + 0x900});
    trace.DefineStack(0, 5, {kCode + 0x600, kCode + 0x900});
    trace.DefineStack(0, 6, {kCode + 0x700, kCode + 0x900});
    uint64_t address = 64 * kMiB;
    trace.Allocate(0, ++time, DEVICE, 0, 1, address, 100 * kMiB);
    address += 100 * kMiB;
    const uint64_t scratch = address;
    address += 32 * kMiB;
    for (int step = 0; step < steps; ++step) {
      const AllocationId temporary = trace.Allocate(0, ++time, DEVICE, 0, 2, scratch, 32 * kMiB);
      trace.Allocate(0, ++time, DEVICE, 0, 3, address, 4 * kMiB);
      address += 4 * kMiB;
      trace.Free(0, ++time, DEVICE, 0, temporary);
      trace.Allocate(0, ++time, PINNED, 0, 4, 0x5000000000 + static_cast<uint64_t>(step) * kMiB, 1000);
      trace.Allocate(0, ++time, EVENT, 0, 4, 0x6000000000 + static_cast<uint64_t>(step) * 64, 0);
      for (const uint32_t stack : {5, 6}) {
        if (marks) continue;
        const AllocationId small = trace.Allocate(0, ++time, DEVICE, 0, stack, scratch, 512);
        trace.Free(0, ++time, DEVICE, 0, small);
      }
      if (marks) trace.Step(0, ++time, 100 + static_cast<uint64_t>(step));
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
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", Job(60).trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_FALSE(report->ranking.empty());
  const ReportSite& leak = report->sites[0];
  EXPECT_EQ(leak.id, report->ranking[0]);
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

  EXPECT_EQ(report->steps.count, 60u);
  EXPECT_EQ(report->steps.source, StepSource::kMarks);
  ASSERT_EQ(report->processes.size(), 1u);
  EXPECT_TRUE(report->processes[0].complete);
  EXPECT_EQ(report->processes[0].rank, 2);
  ASSERT_EQ(report->devices.size(), 1u);
  const ReportDevice& device = report->devices[0];
  EXPECT_EQ(device.peak.live, (100 + 32 + 240) * kMiB);
  EXPECT_EQ(device.peak.step, 159);
  EXPECT_EQ(device.end.live, 340 * kMiB);
  ASSERT_TRUE(device.growth.has_value());
  EXPECT_EQ(device.growth->bytes_per_step, 4.0 * kMiB);
  ASSERT_TRUE(device.growth->steps_to_oom.has_value());
  EXPECT_NEAR(*device.growth->steps_to_oom, (1024 - 372) / 4.0, 6);
}

TEST(Analyze, WhatElseIsAllocatedAtALeaksOwnPlaceDoesNotClearIt) {
  Job job(60);
  job.trace.Allocate(0, ++job.time, PINNED, 0, 3, 0x7000000000, 4 * kMiB);
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", job.trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->sites[0].blame_frame, 1u);
}

TEST(Analyze, HandlesAndHostMemoryAreApart) {
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", Job(60).trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  const ReportSite* pinned = Find(*report, "pinned", 60000);
  ASSERT_NE(pinned, nullptr);
  EXPECT_EQ(pinned->category, "pinned");
  EXPECT_FALSE(pinned->device.has_value());
  EXPECT_EQ(pinned->bytes_at_peak, 60000u);
  const ReportSite* event = Find(*report, "event", 0);
  ASSERT_NE(event, nullptr);
  EXPECT_EQ(event->level, Level::kHandle);
  EXPECT_EQ(event->rate_objects_per_step, 1);
  EXPECT_EQ(event->live_objects, 60u);
}

TEST(Analyze, AKilledProcessGivesTheSameFindings) {
  TestFolder folder;
  absl::StatusOr<Report> finished = Analyze({folder.WriteAs("a.vtrace", Job(60).trace.Finish())});
  absl::StatusOr<Report> killed = Analyze({folder.WriteAs("b.vtrace", Job(60).trace.Kill())});
  ASSERT_TRUE(finished.ok() && killed.ok());
  EXPECT_FALSE(killed->processes[0].complete);
  EXPECT_NE(killed->processes[0].incomplete_why, "");
  EXPECT_EQ(finished->ranking, killed->ranking);
  EXPECT_EQ(finished->sites[0].rate_bytes_per_step, killed->sites[0].rate_bytes_per_step);
  EXPECT_EQ(finished->devices[0].peak.live, killed->devices[0].peak.live);
}

TEST(Analyze, FindsTheLeakOfAJobThatMarksNoSteps) {
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", Job(60, 77, false).trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->steps.source, StepSource::kPeriodicity);
  EXPECT_GT(report->steps.confidence, 0.9);
  EXPECT_NEAR(static_cast<double>(report->steps.count), 60, 1);
  ASSERT_FALSE(report->ranking.empty());
  EXPECT_EQ(report->sites[0].rate_bytes_per_step, 4.0 * kMiB);
}

TEST(Analyze, FragmentationAddsUpAndAdvisesWhereItCosts) {
  // 100 objects of 64 KiB, each in a page of its own.
  TraceBuilder trace;
  trace.DefineDevice(0, 0, "", 1024 * kMiB);
  uint64_t time = 0;
  for (uint64_t i = 0; i < 100; ++i) trace.Allocate(0, ++time, DEVICE, 0, 0, (100 + 2 * i) * kMiB, 64 << 10);
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  const ReportFragmentation& found = report->devices[0].fragmentation;
  EXPECT_EQ(found.reserved, 200 * kMiB);
  EXPECT_EQ(found.live, 6400u << 10);
  EXPECT_EQ(found.reserved, found.live + found.rounding + found.free_releasable + found.free_pinned);
  EXPECT_EQ(found.lower_bound, 6400u << 10);
  EXPECT_EQ(found.upper_bound, 8 * kMiB);
  ASSERT_EQ(found.advice.size(), 1u);
  EXPECT_NE(found.advice[0].text.find("192 MiB of 200 MiB"), std::string::npos) << found.advice[0].text;
  EXPECT_EQ(found.advice[0].saved_bytes, 192 * kMiB);

  const absl::StatusOr<Report> tight = Analyze({folder.WriteAs("b.vtrace", Job(30).trace.Finish())});
  ASSERT_TRUE(tight.ok());
  EXPECT_TRUE(tight->devices[0].fragmentation.advice.empty());
}

TEST(Analyze, ADamagedTraceIsReadAsFarAsItGoes) {
  TestFolder folder;
  std::string bytes = Job(60).trace.Finish();
  bytes.resize(bytes.size() * 3 / 4);
  const absl::StatusOr<Report> cut = Analyze({folder.WriteAs("a.vtrace", bytes)});
  ASSERT_TRUE(cut.ok()) << cut.status();
  EXPECT_FALSE(cut->processes[0].complete);
  EXPECT_NE(cut->processes[0].incomplete_why, "");
  EXPECT_FALSE(cut->warnings.empty());
}

TEST(Analyze, TheSameTraceGivesTheSameBytes) {
  // Many sites that tie in everything, two threads whose clocks disagree, and a reset that takes a crowd at once.
  TraceBuilder trace;
  trace.DefineModule(0, 1, "/nowhere/bin/train", kCode, kCode, kCode + 0x100000);
  for (uint32_t id = 1; id <= 300; ++id) trace.DefineStack(0, id, {kCode + 16 * id, kCode + 0x900});
  uint64_t time = 1000000;
  for (uint64_t step = 0; step < 40; ++step) {
    for (uint32_t id = 1; id <= 300; ++id) {
      const uint64_t address = (id + 300 * step) << 13;
      const AllocationId made = trace.Allocate(0, time += 10, DEVICE, 0, id, address, 4096);
      if (id % 3 != 0) trace.Free(1, time - 500000, DEVICE, 0, made);
    }
    trace.Step(0, ++time, step);
    if (step == 20) trace.Event(0, ++time, schema::DEVICE_RESET, schema::KIND_NONE, 0, 0, {});
  }
  TestFolder folder;
  const std::string path = folder.WriteAs("a.vtrace", trace.Finish());
  const absl::StatusOr<Report> first = Analyze({path}), second = Analyze({path});
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(RenderJson(*first), RenderJson(*second));
  EXPECT_GE(first->sites.size(), 20u);
}

TEST(Analyze, ProcessesOfAJobAddUp) {
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze(
      {folder.WriteAs("a.vtrace", Job(60, 1).trace.Finish()), folder.WriteAs("b.vtrace", Job(60, 2).trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->processes.size(), 2u);
  EXPECT_EQ(report->sites[0].rate_bytes_per_step, 8.0 * kMiB);
  EXPECT_EQ(report->sites[0].allocations, 120u);
  EXPECT_EQ(report->devices.size(), 1u);
  EXPECT_FALSE(report->warnings.empty());
}

TEST(Analyze, AFewStepsAreNotEnoughEvidence) {
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", Job(5).trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->ranking.empty());
  const ReportSite* site = Find(*report, "device", 5 * 4 * kMiB);
  ASSERT_NE(site, nullptr);
  EXPECT_EQ(site->verdict, Verdict::kInsufficientEvidence);
  EXPECT_GT(site->further_steps_needed.value_or(0), 0u);
}

TEST(Analyze, BadFilesAreOneLineEach) {
  TestFolder folder;
  const std::string good = folder.WriteAs("good.vtrace", Job(3).trace.Finish());
  for (const std::string& bytes :
       {std::string(), std::string("hello, this is a text file of no use"), Job(3).trace.Finish().substr(0, 100)}) {
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
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  EXPECT_TRUE(report->sites.empty());
  EXPECT_EQ(report->steps.count, 0u);
}

TEST(Analyze, OutOfMemoryNamesTheHoldersAndTheCause) {
  Job job(60);
  job.trace.Event(0, ++job.time, schema::FAIL, DEVICE, 0, 2, {2, 900 * kMiB});
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", job.trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_EQ(report->oom.size(), 1u);
  const ReportOom& oom = report->oom[0];
  EXPECT_EQ(oom.step, 160);
  EXPECT_EQ(oom.requested, 900 * kMiB);
  EXPECT_EQ(oom.free, (1024 - 340) * kMiB);
  EXPECT_EQ(oom.cause, OomCause::kAmount);
  ASSERT_EQ(oom.holders.size(), 2u);
  EXPECT_EQ(oom.holders[0].first, report->ranking[0]);
  EXPECT_EQ(oom.holders[0].second, 240 * kMiB);
  EXPECT_EQ(oom.holders[1].second, 100 * kMiB);
  ASSERT_TRUE(oom.answer.has_value());
  EXPECT_EQ(oom.answer->site, report->ranking[0]);
  EXPECT_TRUE(oom.answer->leak);
  EXPECT_EQ(oom.answer->other_leaks, 0u);
  EXPECT_EQ(oom.answer->bytes, 240 * kMiB);
  EXPECT_NEAR(oom.answer->share, 240. / 340, 1e-9);
  EXPECT_FALSE(oom.stack.empty());
}

TEST(Analyze, OfManyFailuresTheFirstAndTheLastAreKept) {
  Job job(60);
  for (uint64_t i = 1; i <= 1000; ++i) job.trace.Event(0, ++job.time, schema::FAIL, DEVICE, 0, 2, {2, i * kMiB});
  TestFolder folder;
  const absl::StatusOr<Report> report = Analyze({folder.WriteAs("a.vtrace", job.trace.Finish())});
  ASSERT_TRUE(report.ok()) << report.status();
  ASSERT_FALSE(report->oom.empty());
  EXPECT_LT(report->oom.size(), 100u);
  EXPECT_EQ(report->oom.front().requested, kMiB);
  EXPECT_EQ(report->oom.back().requested, 1000 * kMiB);
}

}  // namespace
}  // namespace vramtrack
