// SPDX-License-Identifier: Apache-2.0
//
// Each site knows the NVTX ranges that were open in its thread while it allocated.
#include "analyzer/peaks/nvtx_names.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/ingest/testing/test_trace.h"
#include "analyzer/ledger/ledger.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

constexpr uint32_t kStep = 1, kEvaluate = 2, kLayer = 3, kOther = 4, kOtherDomain = 5;

// Writes the ranges of a program with two threads and one site each.
class Program : public JobBuilder {
 public:
  Program() {
    trace().DefineName(0, kStep, "step #");
    trace().DefineName(0, kEvaluate, "evaluate");
    trace().DefineName(0, kLayer, "layer #");
    trace().DefineName(0, kOtherDomain, "library", kOtherDomain);
    trace().DefineName(0, kOther, "copy", kOtherDomain);
  }

  void Push(uint32_t name, uint32_t thread = 0) {
    OfThread(thread);
    Mark(schema::MARK_RANGE_PUSH, 0, name);
  }
  void Pop(uint32_t domain = 0, uint32_t thread = 0) {
    OfThread(thread);
    Mark(schema::MARK_RANGE_POP, 0, domain);
  }
  void Allocate(int objects = 1, uint32_t thread = 0) {
    OfThread(thread);
    for (int i = 0; i < objects; ++i) JobBuilder::Allocate(1 + thread, 1024);
  }

  // Returns the ranges of each thread's site; "none" without any.
  std::vector<std::string> Ranges(std::vector<double>* shares = nullptr) {
    const TestTrace trace(Finish());
    NvtxRanges ranges(*trace);
    LedgerOptions options;
    options.observers = {&ranges};
    Ledger ledger(*trace, StepPlan(), options);
    ledger.Replay();
    std::map<StackIndex, std::string> found;
    for (const SiteIndex site : ledger.sites().indices()) {
      const auto range = ranges.Of({site});
      found[ledger.sites()[site].key.stack] = range ? range->path : "none";
      if (shares != nullptr) shares->push_back(range ? range->share : 0);
    }
    std::vector<std::string> paths;
    for (const auto& [stack, path] : found) paths.push_back(path);
    return paths;
  }
};

using Paths = std::vector<std::string>;

TEST(NvtxRanges, NestAndEnd) {
  Program program;
  program.Allocate(2);
  program.Push(kStep);
  program.Push(kEvaluate);
  program.Allocate(5);
  program.Pop();
  program.Allocate(2);
  program.Pop();
  program.Pop();  // of nothing
  program.Allocate(1);
  std::vector<double> shares;
  EXPECT_EQ(program.Ranges(&shares), Paths{"step # > evaluate"});
  EXPECT_DOUBLE_EQ(shares[0], 0.5);
}

// As the threads that compute gradients have none.
TEST(NvtxRanges, CountForThreadsWithoutAny) {
  Program program;
  program.Push(kStep, 0);
  program.Allocate(3, 1);
  program.Allocate(3, 0);
  EXPECT_EQ(program.Ranges(), (Paths{"step #", "step #"}));
}

TEST(NvtxRanges, OfSeveralThreadsAreTheirOwn) {
  Program program;
  program.Push(kStep, 0);
  program.Push(kEvaluate, 1);
  program.Allocate(3, 1);
  program.Allocate(3, 0);
  EXPECT_EQ(program.Ranges(), (Paths{"step #", "evaluate"}));
}

TEST(NvtxRanges, OfADomainEndThere) {
  Program program;
  program.Push(kOther);
  program.Push(kStep);
  program.Pop(kOtherDomain);
  program.Allocate();
  EXPECT_EQ(program.Ranges(), Paths{"step #"});
}

TEST(NvtxRanges, ThatStartEndInAnyThread) {
  Program program;
  program.Mark(schema::MARK_RANGE_START, 0, kStep, 7);
  program.Push(kEvaluate);
  program.Allocate(1);
  program.OfThread(1);
  program.Mark(schema::MARK_RANGE_END, 0, 0, 7);
  program.Allocate(2);
  EXPECT_EQ(program.Ranges(), Paths{"evaluate"});
}

TEST(NvtxRanges, DeepOnesShowTheInnermost) {
  Program program;
  program.Push(kStep);
  for (int i = 0; i < 5; ++i) program.Push(kLayer);
  program.Push(kEvaluate);
  program.Allocate();
  EXPECT_EQ(program.Ranges(), Paths{"... > layer # > layer # > layer # > evaluate"});
}

TEST(NvtxRanges, ThatNeverEndDoNoHarm) {
  Program program;
  for (int i = 0; i < 1000; ++i) program.Push(kLayer);
  for (int i = 0; i < 1000; ++i) program.Pop();
  program.Push(kStep);
  program.Allocate();
  EXPECT_EQ(program.Ranges(), Paths{"step #"});
}

// Against a plain stack of names for each thread.
TEST(NvtxRanges, AreThoseOfAPlainReplay) {
  std::mt19937 random(20261125);
  for (int round = 0; round < 50; ++round) {
    Program program;
    std::vector<std::string> open[2];
    std::map<std::string, uint64_t> objects[2];
    for (int i = 0; i < 300; ++i) {
      const uint32_t thread = random() % 2;
      std::vector<std::string>& mine = open[thread];
      const uint32_t choice = random() % 4;
      if (choice == 0 && mine.size() < 2) {
        const bool step = random() % 2 == 0;
        program.Push(step ? kStep : kEvaluate, thread);
        mine.push_back(step ? "step #" : "evaluate");
      } else if (choice == 1) {
        program.Pop(0, thread);
        if (!mine.empty()) mine.pop_back();
      }
      program.Allocate(1, thread);
      const std::vector<std::string>& counted = mine.empty() ? open[1 - thread] : mine;
      ++objects[thread][counted.empty() ? "none" : counted.size() == 1 ? counted[0] : counted[0] + " > " + counted[1]];
    }
    const Paths paths = program.Ranges();
    ASSERT_EQ(paths.size(), 2u);
    for (const uint32_t thread : {0u, 1u}) {
      uint64_t most = 0;
      for (const auto& [path, count] : objects[thread]) most = std::max(most, count);
      EXPECT_EQ(objects[thread][paths[thread]], most) << "round " << round << ": " << paths[thread];
    }
  }
}

}  // namespace
}  // namespace vramtrack
