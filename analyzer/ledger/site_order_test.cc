// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/site_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "analyzer/ingest/testing/test_trace.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

// Replays a job whose steps are marked, and keeps what SiteOrder recorded.
class Replayed {
 public:
  explicit Replayed(JobBuilder* job) : trace_(job->Finish()), ledger_(*trace_, Plan(), Options(&order)) {
    ledger_.Replay();
  }

  SiteIndex SiteOf(uint32_t line) const {
    for (const SiteIndex i : ledger_.sites().indices()) {
      const StackRef stack = trace_->definitions().stacks.Get(ledger_.sites()[i].key.stack).native;
      if (stack.count > 0 && stack.frames[0] == JobBuilder::kCode + 256 * uint64_t{line}) return i;
    }
    ADD_FAILURE() << "no site at " << line;
    return SiteIndex(0);
  }

  SiteOrder order;

 private:
  static StepPlan Plan() {
    StepPlan plan;
    plan.mark_slot = ThreadSlot(0);
    return plan;
  }
  static LedgerOptions Options(SiteOrder* order) {
    LedgerOptions options;
    options.observers = {order};
    return options;
  }

  const TestTrace trace_;
  Ledger ledger_;
};

std::vector<uint32_t> StepsOf(const SiteOrder::SiteBirths& births) {
  std::vector<uint32_t> steps;
  for (const SiteOrder::Birth& birth : births.latest) {
    if (birth.event != 0) steps.push_back(birth.step);
  }
  std::sort(steps.begin(), steps.end());
  return steps;
}

TEST(SiteOrder, KeepsTheFirstTheLastAndTheLatestStepsOfASite) {
  JobBuilder job;
  for (int step = 0; step < 20; ++step) {
    job.Allocate(1, 512);
    job.Allocate(2, 512);
    job.EndStep();
  }
  job.Allocate(3, 512);
  const Replayed replayed(&job);
  const SiteOrder::SiteBirths one = replayed.order.BirthsOf(replayed.SiteOf(1));
  const SiteOrder::SiteBirths two = replayed.order.BirthsOf(replayed.SiteOf(2));
  EXPECT_EQ(one.first, 1u);
  EXPECT_EQ(two.first, 2u);
  EXPECT_EQ(one.last, 39u);
  EXPECT_EQ(two.last, 40u);
  EXPECT_EQ(StepsOf(one), (std::vector<uint32_t>{12, 13, 14, 15, 16, 17, 18, 19}));
  // Of a site that allocated once no order within steps is asked for.
  const SiteOrder::SiteBirths three = replayed.order.BirthsOf(replayed.SiteOf(3));
  EXPECT_EQ(three.first, 41u);
  EXPECT_TRUE(StepsOf(three).empty());
  EXPECT_FALSE(replayed.order.CleanedUp());
}

TEST(SiteOrder, KeepsTheLastAllocationOfEachStep) {
  JobBuilder job;
  for (int step = 0; step < 6; ++step) {
    job.Allocate(1, 512);
    job.Allocate(2, 512);
    job.Allocate(1, 512);
    job.EndStep();
  }
  const Replayed replayed(&job);
  for (const SiteOrder::Birth& birth : replayed.order.BirthsOf(replayed.SiteOf(1)).latest) {
    if (birth.event == 0) continue;
    EXPECT_EQ(birth.event, 3u * (birth.step + 1));
  }
}

TEST(SiteOrder, ASiteThatKeepsNothingHasNoOrder) {
  JobBuilder job;
  for (int step = 0; step < 20; ++step) {
    job.Free(job.Allocate(1, 512));
    job.EndStep();
  }
  const Replayed replayed(&job);
  EXPECT_TRUE(StepsOf(replayed.order.BirthsOf(replayed.SiteOf(1))).empty());
  EXPECT_EQ(replayed.order.BirthsOf(replayed.SiteOf(1)).last, 39u);
}

TEST(SiteOrder, KeepsReleasesAfterTheLastStepOnly) {
  JobBuilder job;
  std::vector<JobObject> kept;
  for (int step = 0; step < 10; ++step) {
    kept.push_back(job.Allocate(1, 512));
    const JobObject brief = job.Allocate(2, 512);
    job.Free(brief);
    if (step == 5) {
      job.Free(kept.front());
      kept.erase(kept.begin());
    }
    job.EndStep();
  }
  for (const JobObject& object : kept) job.Free(object);
  const Replayed replayed(&job);
  // Not the one of the last step, which is no older than a step.
  EXPECT_EQ(replayed.order.released().size(), kept.size() - 1);
  for (const SiteOrder::Release& release : replayed.order.released()) {
    EXPECT_EQ(release.site, replayed.SiteOf(1));
  }
  EXPECT_TRUE(replayed.order.CleanedUp());
}

}  // namespace
}  // namespace vramtrack
