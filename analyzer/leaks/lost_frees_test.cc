// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/lost_frees.h"

#include <gtest/gtest.h>

namespace vramtrack {
namespace {

LeakVerdict Leak(uint64_t survivors) {
  LeakVerdict verdict;
  verdict.verdict = Verdict::kLeak;
  verdict.evidence.survivors.objects = survivors;
  return verdict;
}

Verdict Doubted(uint64_t survivors, uint64_t died, double lost_share) {
  SiteHistory history;
  history.died_objects = died;
  LeakVerdict verdict = Leak(survivors);
  DoubtWhatLossesExplain(history, lost_share, &verdict);
  return verdict.verdict;
}

TEST(LostFrees, AsManySurvivorsAsFreesWereLostAreNoLeak) {
  EXPECT_EQ(Doubted(100, 900, .1), Verdict::kInsufficientEvidence);
  EXPECT_EQ(Doubted(129, 900, .1), Verdict::kInsufficientEvidence);
}

TEST(LostFrees, MoreSurvivorsThanFreesWereLostAreOne) {
  EXPECT_EQ(Doubted(131, 900, .1), Verdict::kLeak);
  EXPECT_EQ(Doubted(100, 900, .001), Verdict::kLeak);
}

TEST(LostFrees, WhatWasNeverFreedWasNotFreedInWhatIsLost) { EXPECT_EQ(Doubted(10, 0, .5), Verdict::kLeak); }

TEST(LostFrees, AWholeTraceLeavesNoDoubt) { EXPECT_EQ(Doubted(1, 1000000, 0), Verdict::kLeak); }

TEST(LostFrees, AlmostEverythingLostIsNoDivisionByZero) {
  EXPECT_EQ(Doubted(100, 1, 1), Verdict::kInsufficientEvidence);
}

TEST(LostFrees, TheDoubtIsTold) {
  SiteHistory history;
  history.died_objects = 900;
  LeakVerdict verdict = Leak(100);
  DoubtWhatLossesExplain(history, .1, &verdict);
  EXPECT_EQ(verdict.explanation,
            "100 objects seem to have stayed, but in what the trace has lost about 100 more of this site were freed");
  EXPECT_EQ(verdict.further_steps_needed, 0u);
}

}  // namespace
}  // namespace vramtrack
