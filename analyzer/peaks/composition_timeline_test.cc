// SPDX-License-Identifier: Apache-2.0
//
// The categories of a timeline add up: at each step's end to what is live, in each bin to no less than its lowest and
// no more than its highest.
#include "analyzer/peaks/composition_timeline.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "analyzer/ingest/testing/test_trace.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

constexpr size_t kCount = kCategories + 3;  // with those of a user's rules

// Checks the sums of every scope while a replay goes on.
class SumCheck final : public ReplayObserver {
 public:
  explicit SumCheck(const CompositionTimeline& categories) : categories_(categories) {}
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnStepEnd(uint32_t /*step*/) override {
    for (uint32_t i = 0; i < ledger_->scopes().size(); ++i) {
      const Scope& scope = ledger_->scopes()[i];
      if (!scope.is_leading() && scope.device != kHost) continue;
      uint64_t sum = 0;
      for (size_t c = 0; c < kCount; ++c) sum += categories_.Live(i, static_cast<Category>(c));
      EXPECT_EQ(sum, scope.live);
      ++checks_;
    }
  }
  int checks() const { return checks_; }

 private:
  const CompositionTimeline& categories_;
  const Ledger* ledger_ = nullptr;
  int checks_ = 0;
};

// Two devices and the host, objects that live for up to many steps, memory that is mapped after its handle is gone.
std::string RandomTrace(uint32_t seed, int steps, bool marks) {
  std::mt19937 random(seed);
  JobBuilder job;
  std::vector<JobObject> live;
  for (int step = 0; step < steps; ++step) {
    for (int i = 0; i < 40; ++i) {
      job.Pass(random() % 1000);
      if (random() % 2 == 0 && !live.empty()) {
        const size_t victim = random() % live.size();
        job.Free(live[victim]);
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
        continue;
      }
      const schema::Kind kind = random() % 4 == 0 ? schema::PINNED : schema::DEVICE;
      job.OnDevice(random() % 2);
      const uint64_t bytes = 1 + random() % (1 << 20);
      live.push_back(job.Allocate(1 + random() % 30, bytes, kind));
    }
    job.OnDevice(0);
    if (step == steps / 2) job.Free(job.Map(40, uint64_t{1} << 44, 64 << 20).memory);
    if (marks) job.EndStep();
  }
  return job.Finish();
}

void Check(const std::string& file, bool marks) {
  const TestTrace read(file);
  const Trace& trace = *read;
  StepPlan plan;
  if (marks) {
    plan.source = StepSource::kMarks;
    plan.mark_slot = ThreadSlot(0);
  }
  LevelTimeline levels(trace);
  LedgerOptions options;
  options.observers = {&levels};
  Ledger first(trace, plan, options);
  first.Replay();
  IndexedVector<SiteIndex, Category> categories;
  for (size_t i = 0; i < first.sites().size(); ++i) categories.push_back(static_cast<Category>(i % kCount));
  CompositionTimeline timeline(first, categories, kCount, {}, levels);
  SumCheck check(timeline);
  options.observers = {&timeline, &check};
  Ledger second(trace, plan, options);
  second.Replay();
  if (marks) {
    EXPECT_GT(check.checks(), 100);
  }

  size_t scopes = 0;
  for (uint32_t i = 0; i < first.scopes().size(); ++i) {
    const Scope& scope = first.scopes()[i];
    const std::vector<LevelTimeline::Bin>& bins = levels.bins(scope);
    std::vector<uint64_t> low(bins.size()), high(bins.size());
    for (size_t c = 0; c < kCount; ++c) {
      const std::vector<CompositionTimeline::Extent> of_category = timeline.Extents(i, static_cast<Category>(c));
      if (of_category.empty()) continue;
      ASSERT_EQ(of_category.size(), bins.size());
      for (size_t bin = 0; bin < bins.size(); ++bin) {
        EXPECT_LE(of_category[bin].low, of_category[bin].high);
        EXPECT_LE(of_category[bin].high, bins[bin].high[2]) << "a part is no more than the whole";
        low[bin] += of_category[bin].low;
        high[bin] += of_category[bin].high;
      }
    }
    for (size_t bin = 0; bin < bins.size(); ++bin) {
      EXPECT_LE(low[bin], bins[bin].low[2]);
      EXPECT_GE(high[bin], bins[bin].high[2]);
    }
    scopes += scope.is_leading();
  }
  EXPECT_EQ(scopes, 2u);
}

TEST(CompositionTimeline, AddsUpOverSteps) { Check(RandomTrace(1, 60, true), true); }
TEST(CompositionTimeline, AddsUpOverMoreStepsThanBins) { Check(RandomTrace(2, 9000, true), true); }
TEST(CompositionTimeline, AddsUpOverTime) { Check(RandomTrace(3, 2000, false), false); }

// One category for each of two sites: the bins are those that a reader of the events would make.
TEST(CompositionTimeline, ABinHasTheLowestAndTheHighestOfItsStep) {
  JobBuilder job;
  const JobObject kept = job.Allocate(1, 1000);
  job.EndStep();
  job.Free(job.Allocate(2, 500));
  job.EndStep();
  job.Free(kept);
  const TestTrace trace(job.Finish());
  StepPlan plan;
  plan.mark_slot = ThreadSlot(0);
  LevelTimeline levels(*trace);
  LedgerOptions options;
  options.observers = {&levels};
  Ledger first(*trace, plan, options);
  first.Replay();
  CompositionTimeline timeline(first, {Category::kParameters, Category::kTemporary}, kCount, {}, levels);
  options.observers = {&timeline};
  Ledger second(*trace, plan, options);
  second.Replay();
  const auto values = [&](Category category) {
    std::string text;
    for (const CompositionTimeline::Extent& bin : timeline.Extents(first.sites()[SiteIndex(0)].scope, category)) {
      text += std::to_string(bin.low) + ".." + std::to_string(bin.high) + " ";
    }
    return text;
  };
  EXPECT_EQ(values(Category::kParameters), "0..1000 1000..1000 0..1000 ");
  EXPECT_EQ(values(Category::kTemporary), "0..0 0..500 0..0 ");
  EXPECT_EQ(values(Category::kInput), "");
}

}  // namespace
}  // namespace vramtrack
