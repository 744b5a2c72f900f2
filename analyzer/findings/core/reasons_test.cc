// SPDX-License-Identifier: Apache-2.0
//
// What a report says of a run that it cannot judge.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"

namespace vramtrack {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

constexpr uint64_t kMiB = 1 << 20;

constexpr char kCuPyPool[] = "cupy/cuda/memory.cpython-312-x86_64-linux-gnu.so";

// `site` allocates within an installed library.
void DefineLibrary(uint32_t site, const std::string& library, JobBuilder* job) {
  job->trace().DefineModule(0, 2, "/site-packages/" + library, 0x20000000, 0x20000000, 0x30000000);
  job->DefineNative(site, {0x20001000});
}

// Allocates what it frees again, and something that it keeps.
void Work(JobBuilder* job) {
  const JobObject input = job->Allocate(1, kMiB), output = job->Allocate(2, kMiB);
  job->Allocate(3, kMiB);
  job->Free(output);
  job->Free(input);
  job->Pass(1000);
}

TEST(Reasons, StepsThatReplayAGraphAreNotSeen) {
  JobBuilder job;
  for (int step = 0; step < 4; ++step) {
    Work(&job);
    job.EndStep();
  }
  job.Allocate(4, 0, schema::GRAPH_EXEC);
  for (int replay = 0; replay < 3; ++replay) job.Pass(1000);
  const ProcessFindings findings = FindInJob(&job);
  EXPECT_EQ(findings.steps.count, 4u);
  EXPECT_THAT(ReasonsOf(findings), Contains("steps_in_graphs"));
}

TEST(Reasons, GraphsThatWereMadeWithinTheStepsAreNoReason) {
  for (const int steps : {12, 60}) {
    JobBuilder job;
    for (int step = 0; step < steps; ++step) {
      Work(&job);
      if (step == 2) job.Allocate(4, 0, schema::GRAPH_EXEC);
      job.EndStep();
    }
    const ProcessFindings findings = FindInJob(&job);
    EXPECT_EQ(findings.steps.count, static_cast<uint64_t>(steps));
    EXPECT_THAT(ReasonsOf(findings), Not(Contains("steps_in_graphs"))) << steps;
  }
}

// A program with a caching pool takes its memory in set-up and in the first steps.
TEST(Reasons, ARestThatKeepsNothingHidesNoLeak) {
  for (const bool keeps : {false, true}) {
    JobBuilder job;
    for (int i = 0; i < 60; ++i) {
      const JobObject object = job.Allocate(1, kMiB);
      if (!keeps || i % 2 == 0) job.Free(object);
      job.Pass(100000);
    }
    for (int step = 0; step < 60; ++step) {
      if (step < 2) job.Allocate(100, kMiB);
      job.Pass(10);
      job.EndStep();
    }
    const ProcessFindings findings = FindInJob(&job);
    EXPECT_EQ(findings.steps.count, 60u);
    EXPECT_LT(findings.steps.judged, .5);
    EXPECT_EQ(findings.reasons.empty(), !keeps);
  }
}

TEST(Reasons, FewStepsDoNotShowEvenALeakInEachOfThem) {
  for (const int steps : {8, 60}) {
    JobBuilder job;
    for (int step = 0; step < steps; ++step) {
      Work(&job);
      job.EndStep();
    }
    EXPECT_EQ(FindInJob(&job).reasons.empty(), steps == 60) << steps;
  }
}

// The line that makes a pool grow is not the one that keeps its blocks.
TEST(Reasons, GrowthOfALibrarysPoolIsNoLeakOfALine) {
  JobBuilder job;
  DefineLibrary(4, kCuPyPool, &job);
  for (int step = 0; step < 60; ++step) {
    Work(&job);
    job.Allocate(4, kMiB);
    job.EndStep();
  }
  const ProcessFindings findings = FindInJob(&job);
  EXPECT_THAT(ReasonsOf(findings), Contains("library_pool"));
  std::vector<std::string> leak;
  for (const ReportSite& site : findings.sites) {
    if (IsLeak(site.verdict)) leak.push_back(site.owner);
  }
  EXPECT_THAT(leak, ElementsAre("job"));
}

// What torch.cat() makes of the results of a loop over a data set.
TEST(Reasons, ResultsThatAreGatheredAfterTheirLoopAreNoLeak) {
  constexpr uint64_t kBatches = 300, kResult = 8192;
  for (const bool gathers : {false, true}) {
    JobBuilder job;
    std::mt19937 random(1);
    for (uint64_t batch = 0; batch < kBatches; ++batch) {
      // In no order, so that there is no period.
      for (uint32_t i = random() % 7; i > 0; --i) job.Free(job.Allocate(1 + random() % 20, kMiB));
      job.Allocate(100, kResult);
    }
    const JobObject together = job.Allocate(101, gathers ? kBatches * kResult : kMiB);
    for (int i = 0; i < 20; ++i) job.Free(job.Allocate(1 + random() % 20, kMiB));
    job.Free(together);
    const ProcessFindings findings = FindInJob(&job);
    EXPECT_EQ(findings.steps.unit, StepUnit::kWindow);
    const bool leaks = std::any_of(findings.sites.begin(), findings.sites.end(),
                                   [](const ReportSite& site) { return IsLeak(site.verdict); });
    EXPECT_EQ(leaks, !gathers);
    EXPECT_EQ(ReasonsOf(findings), gathers ? std::vector<std::string>{"gathered"} : std::vector<std::string>{});
  }
}

TEST(Reasons, WhatCannotBeJudgedIsShownHoweverLittleItHolds) {
  JobBuilder job;
  DefineLibrary(4, kCuPyPool, &job);
  for (uint32_t site = 10; site < 20; ++site) job.Allocate(site, 64 * kMiB);
  for (int step = 0; step < 60; ++step) {
    Work(&job);
    job.Allocate(4, 4096);
    job.EndStep();
  }
  AnalyzeOptions options;
  options.top = 5;
  const ProcessFindings findings = FindInJob(&job, options);
  const auto unjudged = std::find_if(findings.sites.begin(), findings.sites.end(), [](const ReportSite& site) {
    return site.verdict == Verdict::kInsufficientEvidence;
  });
  ASSERT_NE(unjudged, findings.sites.end());
  EXPECT_EQ(unjudged->reason, "library_pool");
}

TEST(Reasons, WhatIsKeptDoesNotHideBehindASteadySiteOfTheSameLine) {
  JobBuilder job;
  const uint32_t dropped = job.Python({{"step", 10}}), kept = job.Python({{"step", 10, "/job/train.py", 1}});
  for (int step = 0; step < 12; ++step) {
    const JobObject large = job.Allocate(dropped, 8 * kMiB);
    job.Allocate(kept, kMiB / 2);
    job.Free(large);
    job.EndStep();
  }
  const ProcessFindings findings = FindInJob(&job);
  ASSERT_EQ(findings.sites.size(), 1u) << "both look the same";
  EXPECT_TRUE(IsLeak(findings.sites[0]) || findings.sites[0].verdict == Verdict::kInsufficientEvidence);
}

constexpr uint64_t kSteps = 120;

// Each step works with 64 MiB, keeps `left` bytes for good, and replaces a buffer by one of `buffer` bytes, which is
// freed before the new one is made.
struct Sizes {
  uint64_t buffer = 0, left = 0;
};

std::vector<ReportReason> Reasons(const std::function<Sizes(uint64_t step)>& sizes) {
  JobBuilder job;
  job.Device(uint64_t{64} << 30);
  JobObject buffer = job.Allocate(1, kMiB);
  for (uint64_t step = 0; step < kSteps; ++step) {
    const Sizes of = sizes(step);
    job.Free(job.Allocate(2, 64 * kMiB));
    job.Free(buffer);
    buffer = job.Allocate(1, of.buffer);
    job.Free(job.Allocate(2, 64 * kMiB));
    if (of.left > 0) job.Allocate(3, of.left);
    job.Pass(1000000);
    job.EndStep();
  }
  return FindInJob(&job).reasons;
}

bool PeaksRise(const std::vector<ReportReason>& reasons) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [](const ReportReason& reason) { return reason.id == "rising_peaks"; });
}

TEST(RisingSteps, ABufferIsFreedAndMadeLarger) {
  const std::vector<ReportReason> reasons = Reasons([](uint64_t step) { return Sizes{(8 + step) * kMiB}; });
  ASSERT_TRUE(PeaksRise(reasons));
  EXPECT_THAT(reasons.back().text, HasSubstr("1.00 MiB per step"));
  EXPECT_THAT(reasons.back().text, HasSubstr("objects that get larger, from job+0x"));
}

TEST(RisingSteps, OneThatHasStoppedGrowingIsFine) {
  EXPECT_FALSE(PeaksRise(Reasons([](uint64_t step) { return Sizes{(8 + std::min<uint64_t>(step, 70)) * kMiB}; })));
}

TEST(RisingSteps, SizesThatVaryAreFine) {
  std::mt19937_64 random(7);
  EXPECT_TRUE(Reasons([&random](uint64_t) { return Sizes{(8 + random() % 64) * kMiB}; }).empty());
}

TEST(RisingSteps, ALastPhaseThatNeedsMoreIsFine) {
  std::mt19937_64 random(11);
  const auto size = [&random](uint64_t step) { return Sizes{(step < 100 ? 32 : 80) * kMiB + random() % (16 * kMiB)}; };
  EXPECT_FALSE(PeaksRise(Reasons(size)));
}

TEST(RisingSteps, SizesThatVaryAndGrowAreFound) {
  std::mt19937_64 random(12);
  EXPECT_TRUE(PeaksRise(Reasons([&random](uint64_t step) { return Sizes{(8 + step + random() % 16) * kMiB}; })));
}

TEST(RisingSteps, WhatStaysIsALeak) {
  EXPECT_TRUE(Reasons([](uint64_t) { return Sizes{8 * kMiB, kMiB}; }).empty());
}

// A job whose memory another allocator divides is not called clean, unless the blocks of that allocator are seen.

constexpr uint32_t kLibrary = 1, kOwn = 2;

// A job with a library; 60 steps, each with an allocation of the program's own.
class Job : public JobBuilder {
 public:
  explicit Job(const std::string& library) { DefineLibrary(kLibrary, library, this); }

  // Of the blocks that are not seen.
  std::vector<std::string> Unseen(int steps = 60) {
    for (int step = 0; step < steps; ++step) {
      Free(Allocate(kOwn, kMiB));
      EndStep();
    }
    std::vector<std::string> texts;
    for (const ReportReason& reason : FindInJob(this).reasons) {
      if (reason.id == "untraced_blocks") texts.push_back(reason.text);
    }
    return texts;
  }
};

TEST(UnseenBlocks, OfAPieceThatALibraryDividesAreNamed) {
  Job job("xla_cuda_plugin.so");
  job.Allocate(kLibrary, 4096 * kMiB);
  const std::vector<std::string> unseen = job.Unseen();
  ASSERT_EQ(unseen.size(), 1u);
  EXPECT_NE(unseen[0].find("xla_cuda_plugin.so holds 4.00 GiB of device 0"), std::string::npos) << unseen[0];
  EXPECT_NE(unseen[0].find("XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async"), std::string::npos) << unseen[0];
}

TEST(UnseenBlocks, AreNamedWithoutStepsToo) {
  Job job("xla_cuda_plugin.so");
  job.Allocate(kLibrary, 4096 * kMiB);
  EXPECT_EQ(job.Unseen(0).size(), 1u);
}

TEST(UnseenBlocks, AreNotThoseOfOtherLibraries) {
  Job job("libcublas.so.13");
  job.Allocate(kLibrary, 4096 * kMiB);
  EXPECT_TRUE(job.Unseen().empty());
}

TEST(UnseenBlocks, AreNotAllocationsOfCudasPools) {
  Job job("xla_cuda_plugin.so");
  for (int i = 0; i < 10; ++i) job.Allocate(kLibrary, 1024 * kMiB, schema::STREAM_ORDERED);
  EXPECT_TRUE(job.Unseen().empty());
}

TEST(UnseenBlocks, AreNotManySmallAllocations) {
  Job job("xla_cuda_plugin.so");
  for (int i = 0; i < 1000; ++i) job.Allocate(kLibrary, kMiB);
  EXPECT_TRUE(job.Unseen().empty());
}

TEST(UnseenBlocks, AreNotThoseThatAreSeen) {
  Job job("libtensorflow_cc.so.2");
  const JobObject piece = job.Allocate(kLibrary, 4096 * kMiB);
  job.BlockAt(kOwn, piece.address + kMiB, kMiB);
  EXPECT_TRUE(job.Unseen().empty());
}

}  // namespace
}  // namespace vramtrack
