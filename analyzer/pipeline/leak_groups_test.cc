// SPDX-License-Identifier: Apache-2.0
//
// Tests that one leak is one finding: which sites belong together, and which do not.
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/pipeline/testing/report_on.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

using schema::DEVICE;
using schema::FRAMEWORK_BLOCK;

constexpr uint64_t kKiB = 1 << 10;
constexpr int kSteps = 60;

constexpr PythonLine kModuleCall = {"Module._call_impl", 5,
                                    "/env/lib/python3.10/site-packages/torch/nn/modules/module.py"};
constexpr PythonLine kModuleMove = {"Module._apply", 7, kModuleCall.file};
using Stack = std::vector<PythonLine>;  // innermost first

// A job in Python whose stacks are lists of lines.
class Job : public JobBuilder {
 public:
  explicit Job(int rank = -1)
      : JobBuilder(
            {{"python", "train.py"}, rank, static_cast<uint32_t>(77 + rank), "/env/torch/lib/libtorch_cuda.so"}) {
    Device(64ull << 30);
  }

  void OfTheDriver() { kind_ = DEVICE; }

  JobObject Allocate(const Stack& stack, uint64_t bytes) {
    return JobBuilder::Allocate(Python(stack, kNative), bytes, kind_);
  }
  // Reserves an address range, and has memory of `bytes` mapped at its beginning.
  void AllocateMapped(const Stack& stack, uint64_t range, uint64_t bytes) {
    const uint32_t number = Python(stack, kNative);
    Map(number, JobBuilder::Allocate(number, range, schema::ADDRESS_RANGE).address, bytes);
  }
  // Allocated and freed again.
  void Use(const Stack& stack) { Free(Allocate(stack, 64 * kKiB)); }

 private:
  static constexpr uint32_t kNative = 1;
  schema::Kind kind_ = FRAMEWORK_BLOCK;
};

const ReportSite& Finding(const Report& report, size_t index) {
  return report.sites.at(report.ranking.at(index).value());
}

uint32_t BlamedLine(const ReportSite& site) { return site.frames.at(site.blame_frame).line; }

// What `make` leaves behind in each step, beside work that leaves nothing.
template <typename Make>
Job Leaking(Make make, bool of_the_driver = false, int rank = -1) {
  Job job(rank);
  if (of_the_driver) job.OfTheDriver();
  for (int step = 0; step < kSteps; ++step) {
    job.Use({{"train", 50}, {"main", 90}});
    make(job);
    job.Use({{"train", 60}, {"main", 90}});
    job.EndStep();
  }
  return job;
}

void MakeObject(Job& job) {
  job.Allocate({{"Cache.__init__", 10}, {"train", 52}, {"main", 90}}, 8 * kKiB);
  job.Allocate({{"Cache.__init__", 11}, {"train", 52}, {"main", 90}}, 32 * kKiB);
  job.Allocate({{"Cache.__init__", 12}, {"train", 52}, {"main", 90}}, 512);
}

TEST(LeakGroups, WhatAConstructorAllocatesIsOneLeakAtTheLineThatCallsIt) {
  for (const bool of_the_driver : {false, true}) {
    const Report report = ReportOn({Leaking(MakeObject, of_the_driver).Kill()});
    ASSERT_EQ(report.ranking.size(), 1u) << of_the_driver;
    const ReportSite& leader = Finding(report, 0);
    EXPECT_EQ(leader.parts, 2u);
    EXPECT_EQ(BlamedLine(leader), 52u);
    ASSERT_TRUE(leader.group.has_value());
    EXPECT_EQ(leader.group->rate_bytes_per_step, 40.5 * kKiB);
    EXPECT_EQ(leader.group->rate_ci_low, 40.5 * kKiB);
    EXPECT_EQ(leader.group->rate_ci_high, 40.5 * kKiB);
    EXPECT_EQ(leader.group->rate_objects_per_step, 3);
    EXPECT_EQ(leader.group->live_bytes, 60 * 41472u);
    EXPECT_EQ(leader.group->peak_without, 64 * kKiB) << "what the work needs, once";
    size_t parts = 0;
    for (const ReportSite& site : report.sites) {
      if (site.part_of.is_none()) continue;
      ++parts;
      EXPECT_EQ(site.part_of, report.ranking[0]);
      EXPECT_EQ(site.verdict, Verdict::kLeak);
      EXPECT_FALSE(site.group.has_value());
    }
    EXPECT_EQ(parts, 2u);
  }
}

TEST(LeakGroups, ALeakOfModelsSaysThatItIsOne) {
  const std::string says = "the objects are parameters or buffers of a model";
  const Report models = ReportOn({Leaking([](Job& job) {
                                    job.Allocate({kModuleMove, {"train", 52}, {"main", 90}}, 8 * kKiB);
                                    job.Allocate({kModuleMove, {"train", 52}, {"main", 90}}, 32 * kKiB);
                                  }).Kill()});
  EXPECT_EQ(Finding(models, 0).explanation.find(says), 0u) << Finding(models, 0).explanation;
  const Report others = ReportOn({Leaking(MakeObject).Kill()});
  EXPECT_EQ(Finding(others, 0).explanation.find(says), std::string::npos) << Finding(others, 0).explanation;
}

TEST(LeakGroups, IndependentLeaksAtUnrelatedLinesStayApart) {
  for (const bool of_the_driver : {false, true}) {
    const Report report = ReportOn({Leaking(
                                        [](Job& job) {
                                          job.Allocate({{"train", 52}, {"main", 90}}, 4 * kKiB);
                                          job.Use({{"train", 54}, {"main", 90}});
                                          job.Allocate({{"train", 56}, {"main", 90}}, 2 * kKiB);
                                          job.Allocate({{"log", 5}, {"train", 57}, {"main", 90}}, kKiB);
                                        },
                                        of_the_driver)
                                        .Kill()});
    ASSERT_EQ(report.ranking.size(), 3u);
    EXPECT_EQ(BlamedLine(Finding(report, 0)), 52u);
    EXPECT_EQ(BlamedLine(Finding(report, 1)), 56u);
    EXPECT_EQ(Finding(report, 0).parts, 0u);
    EXPECT_EQ(Finding(report, 0).group->rate_bytes_per_step, 4.0 * kKiB);
  }
}

TEST(LeakGroups, LeaksInDifferentStepsStayApartWhateverTheirStacks) {
  int step = 0;
  const Report report = ReportOn({Leaking([&step](Job& job) {
                                    const uint32_t line = ++step % 2 == 0 ? 10 : 11;
                                    job.Allocate({{"Cache.__init__", line}, {"train", 52}, {"main", 90}}, 8 * kKiB);
                                  }).Kill()});
  EXPECT_EQ(report.ranking.size(), 2u);
}

TEST(LeakGroups, StacksOfOneLineAreOneLeakUnlessItIsAWrapper) {
  for (const bool wrapper : {false, true}) {
    int step = 0;
    const Report report = ReportOn({Leaking([&](Job& job) {
                                      const uint32_t line = ++step % 2 == 0 ? 52 : 56;
                                      job.Allocate({{"put", 5}, {"train", line}, {"main", 90}}, line * kKiB);
                                      for (uint32_t other = 70; wrapper && other < 76; ++other) {
                                        job.Use({{"put", 5}, {"train", other}, {"main", 90}});
                                      }
                                    }).Kill()});
    ASSERT_EQ(report.ranking.size(), wrapper ? 2u : 1u);
    const ReportSite& first = Finding(report, 0);
    EXPECT_EQ(BlamedLine(first), wrapper ? 56u : 5u);
    EXPECT_NEAR(first.group->rate_bytes_per_step, (wrapper ? 28 : 54) * kKiB, kKiB);
  }
}

// A graph: blocks of each of two layers, and of the loss.
void MakeGraph(Job& job) {
  for (int layer = 0; layer < 2; ++layer) {
    job.Use({{"Block.forward", 20}, kModuleCall, {"Net.forward", 30}, kModuleCall, {"train", 52}, {"main", 90}});
    job.Allocate({{"Block.forward", 21}, kModuleCall, {"Net.forward", 30}, kModuleCall, {"train", 52}, {"main", 90}},
                 32 * kKiB);
  }
  job.Allocate({{"Net.forward", 31}, kModuleCall, {"train", 52}, {"main", 90}}, 8 * kKiB);
}

TEST(LeakGroups, TheBlocksOfAGraphAreOneLeakLedByTheLastOfThem) {
  const Report report = ReportOn({Leaking(MakeGraph).Kill()});
  ASSERT_EQ(report.ranking.size(), 1u);
  const ReportSite& leader = Finding(report, 0);
  EXPECT_EQ(leader.frames.at(0).line, 31u) << "the last to be born, not the largest";
  EXPECT_EQ(BlamedLine(leader), 52u);
  EXPECT_EQ(leader.parts, 1u);
  EXPECT_EQ(leader.group->rate_bytes_per_step, 72.0 * kKiB);
}

TEST(LeakGroups, TheHeadOfAGraphLeadsItFromAnotherLineOfTheFunction) {
  const Report report = ReportOn({Leaking([](Job& job) {
                                    MakeGraph(job);
                                    job.Allocate({{"train", 53}, {"main", 90}}, 512);
                                  }).Kill()});
  ASSERT_EQ(report.ranking.size(), 1u);
  EXPECT_EQ(BlamedLine(Finding(report, 0)), 53u);
  EXPECT_EQ(Finding(report, 0).parts, 2u);
  EXPECT_EQ(Finding(report, 0).verdict, Verdict::kLeak);
}

// The optimizer ends a step in the middle of the loop's body, so that the next input comes last in each step.
TEST(LeakGroups, TheHeadOfAGraphIsTheLastOfTheLoopAndNotOfAStep) {
  Job job;
  for (int step = 0; step < kSteps; ++step) {
    job.Allocate({{"load", 3}, {"train", 51}, {"main", 90}}, 4 * kKiB);
    job.Use({{"train", 52}, {"main", 90}});
    job.EndStep();
    job.Use({{"train", 54}, {"main", 90}});
    job.Allocate({{"Net.forward", 30}, kModuleCall, {"train", 55}, {"main", 90}}, 8 * kKiB);
    job.Allocate({{"Net.forward", 31}, kModuleCall, {"train", 55}, {"main", 90}}, 512);
    job.Allocate({{"train", 55}, {"main", 90}}, 512);
  }
  job.Use({{"main", 91}});
  const Report report = ReportOn({job.Finish()});
  ASSERT_EQ(report.ranking.size(), 1u);
  EXPECT_EQ(BlamedLine(Finding(report, 0)), 55u);
  EXPECT_EQ(Finding(report, 0).group->rate_bytes_per_step, 13.0 * kKiB);
}

TEST(LeakGroups, WhatIsGivenBackInTurnHasOneOwnerAndWhatIsNotHasTwo) {
  for (const bool in_turn : {true, false}) {
    std::vector<JobObject> first, second;
    Job job = Leaking([&](Job& made) {
      first.push_back(made.Allocate({{"Net.forward", 30}, kModuleCall, {"train", 52}, {"main", 90}}, 8 * kKiB));
      second.push_back(made.Allocate({{"Net.forward", 31}, kModuleCall, {"train", 52}, {"main", 90}}, 4 * kKiB));
    });
    for (size_t i = 0; i < first.size(); ++i) {
      job.Free(first[i]);
      if (in_turn) job.Free(second[i]);
    }
    for (size_t i = 0; i < second.size() && !in_turn; ++i) job.Free(second[i]);
    EXPECT_EQ(ReportOn({job.Finish()}).ranking.size(), in_turn ? 1u : 2u);
  }
}

TEST(LeakGroups, WhatPythonsEndDoesNotFreeIsInAGraph) {
  const auto make = [](bool killed) {
    Job job;
    const JobObject weights = job.Allocate({{"train", 40}, {"main", 90}}, 8 * kKiB);
    for (int step = 0; step < kSteps; ++step) {
      job.Allocate({{"train", 52}, {"main", 90}}, 8 * kKiB);
      job.Use({{"train", 53}, {"main", 90}});
      job.Allocate({{"train", 54}, {"main", 90}}, 4 * kKiB);
      job.EndStep();
    }
    job.Free(weights);
    return killed ? job.Kill() : job.Finish();
  };
  const Report ended = ReportOn({make(false)});
  ASSERT_EQ(ended.ranking.size(), 1u);
  EXPECT_EQ(BlamedLine(Finding(ended, 0)), 54u);
  EXPECT_EQ(ReportOn({make(true)}).ranking.size(), 2u) << "nobody saw the end";
}

TEST(LeakGroups, CachesOfEachLayerAreOneLeak) {
  const Report report =
      ReportOn({Leaking(
                    [](Job& job) {
                      for (int layer = 0; layer < 3; ++layer) {
                        job.Use({{"attend", 9}, {"layers", 20}, {"train", 52}, {"main", 90}});
                        for (const uint32_t line : {10, 11}) {
                          job.Allocate({{"attend", line}, {"layers", 20}, {"train", 52}, {"main", 90}}, 8 * kKiB);
                        }
                      }
                    },
                    /*of_the_driver=*/true)
                    .Kill()});
  ASSERT_EQ(report.ranking.size(), 1u);
  EXPECT_EQ(BlamedLine(Finding(report, 0)), 20u);
  EXPECT_EQ(Finding(report, 0).group->rate_bytes_per_step, 48.0 * kKiB);
}

TEST(LeakGroups, RanksWithTheSameLeakHaveItOnce) {
  const Report report = ReportOn({Leaking(MakeObject, true, 0).Kill(), Leaking(MakeObject, true, 1).Kill()});
  ASSERT_EQ(report.ranking.size(), 1u);
  EXPECT_EQ(Finding(report, 0).parts, 2u);
  EXPECT_EQ(Finding(report, 0).group->rate_bytes_per_step, 2 * 40.5 * kKiB);
  for (const ReportRank& rank : report.ranks) EXPECT_EQ(rank.leaks, 1u);
}

// A range of 32 GiB uses no memory: what is mapped there does.
TEST(LeakGroups, AddressSpaceIsNoMemory) {
  Job job;
  for (int step = 0; step < kSteps; ++step) {
    job.Use({{"work", 3}, {"main", 9}});
    job.AllocateMapped({{"grow_pool", 4}, {"main", 10}}, uint64_t{32} << 30, uint64_t{2} << 20);
    job.EndStep();
  }
  const Report report = ReportOn({job.Finish()});
  ASSERT_FALSE(report.ranking.empty());
  const ReportSite& leak = Finding(report, 0);
  EXPECT_EQ(leak.kind, "physical");
  EXPECT_EQ(leak.level, Level::kDriver);
  EXPECT_NEAR(leak.group ? leak.group->rate_bytes_per_step : leak.rate_bytes_per_step, 2 << 20, 1);
  for (const ReportSite& site : report.sites) {
    if (site.kind != "address_range" && site.kind != "mapping") continue;
    EXPECT_EQ(site.level, Level::kHandle) << site.kind;
    EXPECT_EQ(site.rate_bytes_per_step, 0) << site.kind;
    EXPECT_NEAR(site.rate_objects_per_step, 1, 0.01) << site.kind;
  }
}

}  // namespace
}  // namespace vramtrack
