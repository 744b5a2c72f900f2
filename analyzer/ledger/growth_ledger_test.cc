// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/growth_ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "analyzer/ingest/testing/test_trace.h"
#include "proto/testing/job_builder.h"

namespace vramtrack {
namespace {

// Replays a job whose steps are marked.
class Replayed {
 public:
  explicit Replayed(JobBuilder* job) : trace_(job->Finish()), ledger_(*trace_, Plan(), Options(&growth)) {
    ledger_.Replay();
  }

  const Ledger& ledger() const { return ledger_; }
  uint32_t BookOf(Book wanted) const {
    const auto found = std::find(growth.books().begin(), growth.books().end(), wanted);
    EXPECT_NE(found, growth.books().end());
    return static_cast<uint32_t>(found - growth.books().begin());
  }

  GrowthLedger growth;

 private:
  static StepPlan Plan() {
    StepPlan plan;
    plan.mark_slot = ThreadSlot(0);
    return plan;
  }
  static LedgerOptions Options(GrowthLedger* growth) {
    LedgerOptions options;
    options.observers = {growth};
    return options;
  }

  const TestTrace trace_;
  Ledger ledger_;
};

// The least of a device's bytes in each step, added up again after every event.
struct PlainBook {
  uint64_t held = 0, least = 0;
  std::vector<uint64_t> floors;
  void Add(uint64_t bytes) { held += bytes; }
  void Remove(uint64_t bytes) {
    held -= bytes;
    least = std::min(least, held);
  }
  void EndStep() {
    floors.push_back(least);
    least = held;
  }
};

TEST(GrowthLedger, LevelsOfSitesAddUpToThoseOfTheirBook) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&random](uint64_t n) { return random() % n; };
    JobBuilder job;
    std::vector<JobObject> live;
    std::array<PlainBook, 2> plain;
    const uint64_t steps = seed % 10 == 0 ? 1500 : 1 + below(200), most = 1 + below(30);
    const uint64_t sites = 1 + below(12);
    for (uint64_t step = 0; step < steps; ++step) {
      for (uint64_t i = below(8); i > 0; --i) {
        if (live.size() > most || below(2) == 0) {
          while (!live.empty() && below(3) != 0) {
            const size_t which = below(live.size());
            job.Free(live[which]);
            plain[live[which].device].Remove(live[which].bytes);
            live.erase(live.begin() + static_cast<std::ptrdiff_t>(which));
          }
        } else {
          job.OnDevice(static_cast<uint32_t>(below(2)));
          live.push_back(job.Allocate(static_cast<uint32_t>(1 + below(sites)), 1 + below(1000)));
          plain[live.back().device].Add(live.back().bytes);
        }
      }
      job.EndStep();
      for (PlainBook& book : plain) book.EndStep();
    }
    const Replayed replayed(&job);
    for (uint32_t book = 0; book < replayed.growth.books().size(); ++book) {
      const Book& of = replayed.growth.books()[book];
      ASSERT_EQ(of.of, Book::Of::kDevice);
      const std::vector<uint64_t>& floors = plain[of.device.value()].floors;
      const BookLevels levels = replayed.growth.LevelsOf(book);
      ASSERT_EQ(levels.steps.size(), levels.of_book.size());
      EXPECT_LE(levels.steps.size(), GrowthLedger::kMostBins + 1);
      std::vector<uint64_t> sum(levels.steps.size());
      for (const SiteIndex site : replayed.ledger().sites().indices()) {
        if (replayed.growth.BookOf(site) != book) continue;
        const std::vector<HeldLevel> held = replayed.growth.LevelsOf(site);
        if (held.empty()) continue;
        ASSERT_EQ(held.size(), sum.size());
        for (size_t i = 0; i < sum.size(); ++i) {
          sum[i] += held[i].bytes;
          EXPECT_EQ(held[i].bytes > 0, held[i].objects > 0);
        }
      }
      EXPECT_EQ(sum, levels.of_book) << "seed " << seed;
      for (size_t i = 0; i < levels.steps.size(); ++i) {
        const Step begin = static_cast<Step>(i) * levels.bin_steps;
        const Step end = std::min<Step>(begin + levels.bin_steps, static_cast<Step>(floors.size()));
        ASSERT_GE(levels.steps[i], begin);
        ASSERT_LT(levels.steps[i], end);
        EXPECT_EQ(levels.of_book[i], *std::min_element(floors.begin() + begin, floors.begin() + end))
            << "seed " << seed << ", bin " << i;
      }
    }
  }
}

TEST(GrowthLedger, ABufferThatIsReplacedIsSeenWhereItsBookHoldsLeast) {
  JobBuilder job;
  JobObject buffer = job.Allocate(1, 100);
  for (uint64_t step = 0; step < 10; ++step) {
    const JobObject larger = job.Allocate(1, 101 + step);
    job.Free(buffer);
    buffer = larger;
    job.Free(job.Allocate(2, 5000));
    job.EndStep();
  }
  const Replayed replayed(&job);
  const BookLevels levels = replayed.growth.LevelsOf(replayed.BookOf({Book::Of::kDevice, DeviceIndex(0)}));
  ASSERT_EQ(levels.of_book.size(), 10u);
  // In step 0 nothing was there at first.
  for (size_t step = 1; step < 10; ++step) EXPECT_EQ(levels.of_book[step], 100 + step);
}

TEST(GrowthLedger, HandlesAndPinnedMemoryHaveBooksOfTheirOwn) {
  JobBuilder job;
  for (int step = 0; step < 10; ++step) {
    job.Allocate(1, 0, schema::STREAM);
    job.Allocate(2, 64, schema::PINNED);
    job.Allocate(3, 32);
    job.EndStep();
  }
  const Replayed replayed(&job);
  EXPECT_EQ(replayed.growth.books().size(), 3u);
  const auto last = [&](Book book) { return replayed.growth.LevelsOf(replayed.BookOf(book)).of_book.back(); };
  EXPECT_EQ(last({Book::Of::kHandles, kHost}), 9u) << "of the last step, before it took another";
  EXPECT_EQ(last({Book::Of::kHost, kHost}), 9u * 64);
  EXPECT_EQ(last({Book::Of::kDevice, DeviceIndex(0)}), 9u * 32);
}

}  // namespace
}  // namespace vramtrack
