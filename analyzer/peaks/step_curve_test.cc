// SPDX-License-Identifier: Apache-2.0
//
// Within each step the curve has the step's lowest and highest live bytes, in order, in a bounded number of rows.
#include "analyzer/peaks/step_curve.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "analyzer/peaks/composition_timeline.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

struct Replayed {
  std::unique_ptr<Trace> trace;
  std::unique_ptr<LevelTimeline> timeline;
  std::unique_ptr<Ledger> first;
  std::unique_ptr<CompositionTimeline> composition;

  // Returns the curve of the device.
  const StepCurve& curve() const { return *composition->CurveOf(scope()); }
  uint32_t scope() const {
    for (const Scope& scope : first->scopes()) {
      if (scope.is_leading()) return scope.index;
    }
    ADD_FAILURE() << "no device";
    return 0;
  }
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
  const IndexedVector<SiteIndex, Category> categories(replayed.first->sites().size(), Category::kOther);
  replayed.composition = std::make_unique<CompositionTimeline>(
      *replayed.first, categories, kCategories, std::map<uint32_t, std::vector<std::vector<SiteIndex>>>(),
      *replayed.timeline);
  options.observers = {replayed.composition.get()};
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

TEST(StepCurve, FollowsEveryAllocationOfAFewSteps) {
  const Replayed replayed = Replay(Sawtooth(3, 4));
  EXPECT_EQ(replayed.curve().events_per_row(), 1u);
  std::vector<uint64_t> high;
  for (const StepCurve::Row& row : replayed.curve().Rows()) {
    if (row.step == 1) high.push_back(row.high >> 20);
    EXPECT_EQ(replayed.curve().EventsOf(row.step), 7u);
  }
  // One is left of the step before; of each free, the row begins with what was live until then.
  EXPECT_EQ(high, (std::vector<uint64_t>{2, 3, 4, 5, 5, 4, 3}));
}

TEST(StepCurve, HasEachStepsLowestAndHighestHoweverManyEventsItHas) {
  for (const int objects : {2, 37, 500}) {
    const Replayed replayed = Replay(Sawtooth(300, objects));
    const std::vector<StepCurve::Row> rows = replayed.curve().Rows();
    EXPECT_LE(rows.size(), StepCurve::kMaxRows);
    EXPECT_GE(rows.size(), 300u * 2);
    const std::vector<LevelTimeline::Bin>& bins = replayed.timeline->bins(replayed.first->scopes()[replayed.scope()]);
    for (uint32_t step = 0; step < 300; ++step) {
      uint64_t low = UINT64_MAX, high = 0, next_event = 0;
      for (const StepCurve::Row& row : rows) {
        if (row.step != step) continue;
        EXPECT_EQ(row.event, next_event);
        next_event += replayed.curve().events_per_row();
        low = std::min(low, row.low);
        high = std::max(high, row.high);
      }
      EXPECT_EQ(low, bins[step].low[2]);
      EXPECT_EQ(high, bins[step].high[2]);
      EXPECT_GE(next_event, replayed.curve().EventsOf(step));
    }
  }
}

TEST(StepCurve, IsLeftOutWhereStepsAreTooMany) {
  const Replayed replayed = Replay(Sawtooth(static_cast<int>(StepCurve::kMaxRows) + 10, 3));
  EXPECT_TRUE(replayed.curve().Rows().empty());
  // With as many as there may be rows, each has one.
  const Replayed most = Replay(Sawtooth(static_cast<int>(StepCurve::kMaxRows), 3));
  EXPECT_TRUE(most.curve().Rows().empty());
}

}  // namespace
}  // namespace vramtrack
