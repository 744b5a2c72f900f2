// SPDX-License-Identifier: Apache-2.0
//
// Loops that keep objects, and jobs that show later whether these were a leak. Repeated allocations tell the steps,
// unless the job marks them.
#include <gtest/gtest.h>

#include <deque>
#include <string>
#include <vector>

#include "analyzer/findings/testing/find_in_job.h"
#include "proto/frame.h"
#include "proto/frame_scanner.h"

namespace vramtrack {
namespace {

constexpr uint64_t kKiB = 1 << 10;

class Job : public JobBuilder {
 public:
  Job() : JobBuilder({{"simulate"}}, /*ns_per_event=*/1000) { Device(uint64_t{80} << 30); }

  // Two temporaries, as every iteration of a loop has them.
  void Work(uint32_t stack) {
    const JobObject first = Allocate(stack, 96 * kKiB), second = Allocate(stack + 1, 4 * kKiB);
    Free(second);
    Free(first);
  }
  void Load(uint64_t times) {
    for (; times > 0; --times) {
      Work(10);
      kept.push_back(Allocate(12, 64 * kKiB));
    }
  }
  void FreeAll() {
    while (!kept.empty()) FreeOldest();
  }
  void FreeOldest() {
    Free(kept.front());
    kept.pop_front();
  }

  std::deque<JobObject> kept;
};

bool Leaks(const ProcessFindings& findings) {
  for (const ReportSite& site : findings.sites) {
    if (IsLeak(site)) return true;
  }
  return false;
}

void ExpectDoubt(const ProcessFindings& findings, const char* why) {
  EXPECT_FALSE(Leaks(findings));
  ASSERT_FALSE(findings.reasons.empty());
  EXPECT_EQ(findings.reasons[0].id, why) << findings.reasons[0].text;
}

TEST(EndedGrowth, ALoopThatOnlyLoadsLooksLikeALeak) {
  Job job;
  job.Load(200);
  EXPECT_TRUE(Leaks(FindInJob(&job)));
}

TEST(EndedGrowth, WhatIsLoadedForLaterWorkIsNone) {
  Job job;
  job.Load(200);
  for (int i = 0; i < 60; ++i) job.Work(20);
  job.FreeAll();
  ExpectDoubt(FindInJob(&job), "loop_over");
}

TEST(EndedGrowth, WhatIsLoadedForALongWaitIsNone) {
  Job job;
  job.Load(200);
  job.Pass(2'000'000'000);
  job.FreeAll();
  ExpectDoubt(FindInJob(&job), "loop_over");
}

TEST(EndedGrowth, ALittleWorkOrAPauseAfterALeakDoesNotExcuseIt) {
  for (const uint64_t pause : {0, 500'000'000}) {
    Job job;
    job.Load(200);
    for (int i = 0; i < 5; ++i) job.Work(20);
    job.Pass(pause);
    job.FreeAll();
    EXPECT_TRUE(Leaks(FindInJob(&job))) << pause;
  }
}

TEST(EndedGrowth, MarkedStepsAreNotOfALoopThatLoads) {
  Job job;
  for (int i = 0; i < 200; ++i) {
    job.Load(1);
    job.EndStep();
  }
  for (int i = 0; i < 60; ++i) job.Work(20);
  job.FreeAll();
  EXPECT_TRUE(Leaks(FindInJob(&job)));
}

TEST(EndedGrowth, WhatIsFreedOneByOneWhileTheJobWorksIsNone) {
  for (const bool marked : {false, true}) {
    Job job;
    for (int i = 0; i < 100; ++i) {
      job.Load(1);
      if (marked) job.EndStep();
    }
    while (!job.kept.empty()) {
      job.Work(20);
      job.FreeOldest();
    }
    const ProcessFindings findings = FindInJob(&job);
    EXPECT_FALSE(Leaks(findings)) << marked;
    if (marked) ExpectDoubt(findings, "freed_in_turn");
  }
}

// PyTorch takes an event for a block of pinned memory that it gives back.
TEST(EndedGrowth, HandlesThatFreeingTakesAreNoWork) {
  Job job;
  for (int i = 0; i < 100; ++i) {
    job.Load(1);
    job.EndStep();
  }
  while (!job.kept.empty()) {
    job.Allocate(20, 0, schema::EVENT);
    job.FreeOldest();
  }
  EXPECT_TRUE(Leaks(FindInJob(&job)));
}

TEST(EndedGrowth, PythonMayTakeItsTimeToEnd) {
  Job job;
  const uint32_t line = job.Python({{"train", 3}});
  for (int i = 0; i < 200; ++i) {
    job.Work(10);
    job.kept.push_back(job.Allocate(line, 64 * kKiB));
  }
  job.Pass(2'000'000'000);
  job.FreeAll();
  EXPECT_TRUE(Leaks(FindInJob(&job)));
}

TEST(EndedGrowth, WhatIsFreedAtTheEndOfTheJobIsALeakAllTheSame) {
  Job job;
  for (int i = 0; i < 100; ++i) {
    job.Load(1);
    job.EndStep();
  }
  for (int i = 0; i < 20; ++i) job.Work(20);
  job.FreeAll();
  job.Work(20);
  EXPECT_TRUE(Leaks(FindInJob(&job)));
}

// A full ring, and fewer steps than it has places.
TEST(EndedGrowth, WhatTakesThePlaceOfOlderObjectsIsNone) {
  for (const uint64_t before : {64, 32, 96}) {  // KiB
    Job job;
    for (int i = 0; i < 250; ++i) job.kept.push_back(job.Allocate(11, before * kKiB));
    for (int i = 0; i < 100; ++i) {
      job.Work(20);
      job.FreeOldest();
      job.kept.push_back(job.Allocate(12, 64 * kKiB));
      job.EndStep();
    }
    const ProcessFindings findings = FindInJob(&job);
    if (before == 32) {
      EXPECT_TRUE(Leaks(findings) || !findings.reasons.empty());  // half of it is there in addition
    } else {
      ExpectDoubt(findings, "made_up_for");
    }
  }
}

TEST(EndedGrowth, ADeviceThatEmptiesForAnotherReasonExcusesNoLeak) {
  Job job;
  for (int i = 0; i < 250; ++i) job.kept.push_back(job.Allocate(11, 1024 * kKiB));
  for (int i = 0; i < 200; ++i) {
    job.Work(20);
    job.FreeOldest();
    job.Allocate(12, 4 * kKiB);
    job.EndStep();
  }
  EXPECT_TRUE(Leaks(FindInJob(&job)));
}

TEST(EndedGrowth, HandlesTakeThePlaceOfOlderOnes) {
  for (const bool replaced : {true, false}) {
    Job job;
    std::deque<JobObject> streams;
    for (int i = 0; i < 250; ++i) streams.push_back(job.Allocate(11, 0, schema::STREAM));
    for (int i = 0; i < 100; ++i) {
      job.Work(20);
      if (replaced) job.Free(streams.front());
      streams.pop_front();
      streams.push_back(job.Allocate(12, 0, schema::STREAM));
      job.EndStep();
    }
    const ProcessFindings findings = FindInJob(&job);
    if (replaced) {
      ExpectDoubt(findings, "made_up_for");
    } else {
      EXPECT_TRUE(Leaks(findings));
    }
  }
}

TEST(EndedGrowth, WhatIsLoadedBeforeTheFirstStepIsSetUp) {
  Job job;
  for (uint32_t i = 0; i < 400; ++i) {
    job.kept.push_back(job.Allocate(12 + i % 7, (64 + i % 13) * kKiB));
    job.Pass(i * 37 % 101 * 1000);
  }
  for (int step = 0; step < 60; ++step) {
    job.Work(20);
    job.EndStep();
  }
  const ProcessFindings findings = FindInJob(&job);
  EXPECT_FALSE(Leaks(findings));
  EXPECT_TRUE(findings.reasons.empty());
}

TEST(EndedGrowth, FreesThatWereLostAreNoLeak) {
  for (const char* fact : {"lost_frees", "none"}) {
    Job job;
    for (int step = 0; step < 400; ++step) {
      for (int i = 0; i < 20; ++i) {
        job.Load(1);
        if (job.kept.size() > 20) job.FreeOldest();
      }
      job.EndStep();
      if (step % 3 == 0) job.trace().Seal(0);
    }
    std::string file = job.Finish();
    TraceLayout layout;
    ASSERT_EQ(ScanTrace(file, &layout), "");
    for (size_t i = 30; i < layout.blocks.size(); i += 20) file[layout.blocks[i].offset + kSealedPrefixBytes + 3] ^= 1;
    const TestTrace trace(file);
    AnalyzeOptions options;
    options.without_fact = fact;
    const ProcessFindings findings = FindInProcess(*trace, options);
    EXPECT_EQ(Leaks(findings), std::string(fact) == "lost_frees");
  }
}

}  // namespace
}  // namespace vramtrack
