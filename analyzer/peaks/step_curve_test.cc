// SPDX-License-Identifier: Apache-2.0
//
// Within each step the curve has the step's lowest and highest live bytes, in order, in a bounded number of rows.
#include "analyzer/peaks/step_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

struct Replayed {
  std::unique_ptr<Trace> trace;
  std::unique_ptr<LevelTimeline> timeline;
  std::unique_ptr<Ledger> first;
  std::unique_ptr<StepCurve> curve;
};

Replayed Replay(const std::string& file) {
  Replayed replayed;
  auto read = Trace::Read(file, "test");
  EXPECT_TRUE(read.ok()) << read.status();
  replayed.trace = std::move(*read);
  StepPlan plan;
  plan.source = StepSource::kMarks;
  plan.mark_slot = ThreadSlot(0);
  replayed.timeline = std::make_unique<LevelTimeline>(*replayed.trace);
  LedgerOptions options;
  options.observers = {replayed.timeline.get()};
  replayed.first = std::make_unique<Ledger>(*replayed.trace, plan, options);
  replayed.first->Replay();
  replayed.curve = std::make_unique<StepCurve>(*replayed.first, *replayed.timeline);
  options.observers = {replayed.curve.get()};
  Ledger second(*replayed.trace, plan, options);
  second.Replay();
  return replayed;
}

// Each step allocates `objects` of 1 MiB and frees all but one of them.
std::string Sawtooth(int steps, int objects) {
  JobBuilder job;
  for (int step = 0; step < steps; ++step) {
    std::vector<JobObject> live;
    for (int i = 0; i < objects; ++i) live.push_back(job.Allocate(1, 1 << 20));
    for (int i = 1; i < objects; ++i) job.Free(live[static_cast<size_t>(i)]);
    job.EndStep();
  }
  return job.Finish();
}

uint32_t LeadingScopeOf(const Ledger& ledger) {
  for (uint32_t i = 0; i < ledger.scopes().size(); ++i) {
    if (ledger.scopes()[i].is_leading()) return i;
  }
  ADD_FAILURE() << "no device";
  return 0;
}

TEST(StepCurve, FollowsEveryAllocationOfAFewSteps) {
  const Replayed replayed = Replay(Sawtooth(3, 4));
  const uint32_t scope = LeadingScopeOf(*replayed.first);
  EXPECT_EQ(replayed.curve->EventsPerRow(scope), 1u);
  std::vector<uint64_t> high;
  for (const StepCurve::Row& row : replayed.curve->Rows(scope)) {
    if (row.step == 1) high.push_back(row.high >> 20);
    EXPECT_EQ(replayed.curve->EventsOf(scope, row.step), 7u);
  }
  // One is left of the step before; of each free, the row begins with what was live until then.
  EXPECT_EQ(high, (std::vector<uint64_t>{2, 3, 4, 5, 5, 4, 3}));
}

TEST(StepCurve, HasEachStepsLowestAndHighestHoweverManyEventsItHas) {
  for (const int objects : {2, 37, 500}) {
    const Replayed replayed = Replay(Sawtooth(300, objects));
    const uint32_t scope = LeadingScopeOf(*replayed.first);
    const std::vector<StepCurve::Row>& rows = replayed.curve->Rows(scope);
    EXPECT_LE(rows.size(), StepCurve::kMaxRows);
    EXPECT_GE(rows.size(), 300u * 2);
    const std::vector<Timeline::Bin>& bins = replayed.timeline->bins(replayed.first->scopes()[scope]);
    for (uint32_t step = 0; step < 300; ++step) {
      uint64_t low = UINT64_MAX, high = 0, next_event = 0;
      for (const StepCurve::Row& row : rows) {
        if (row.step != step) continue;
        EXPECT_EQ(row.event, next_event);
        next_event += replayed.curve->EventsPerRow(scope);
        low = std::min(low, row.low);
        high = std::max(high, row.high);
      }
      EXPECT_EQ(low, bins[step].low[2]);
      EXPECT_EQ(high, bins[step].high[2]);
      EXPECT_GE(next_event, replayed.curve->EventsOf(scope, step));
    }
  }
}

TEST(StepCurve, IsLeftOutWhereStepsAreTooMany) {
  const Replayed replayed = Replay(Sawtooth(static_cast<int>(StepCurve::kMaxRows) + 10, 3));
  const uint32_t scope = LeadingScopeOf(*replayed.first);
  EXPECT_TRUE(replayed.curve->Rows(scope).empty());
  EXPECT_EQ(replayed.curve->EventsPerRow(scope), 0u);
  // With as many as there may be rows, each has one.
  const Replayed most = Replay(Sawtooth(static_cast<int>(StepCurve::kMaxRows), 3));
  EXPECT_TRUE(most.curve->Rows(LeadingScopeOf(*most.first)).empty());
}

}  // namespace
}  // namespace vramtrack
