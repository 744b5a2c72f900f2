// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ledger/ledger.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "analyzer/ingest/testing/test_trace.h"
#include "analyzer/ledger/site_histories.h"
#include "analyzer/peaks/counterfactual.h"
#include "analyzer/peaks/peak_window.h"
#include "proto/testing/job_builder.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

using schema::DEVICE;
using schema::EVENT;
using schema::PINNED;

// (kind, device or host, stack)
using Key = std::tuple<uint32_t, uint32_t, uint32_t>;

struct Object {
  Key key;
  uint32_t device = 0;
  uint64_t address = 0, bytes = 0;
  int birth_step = 0;
};

// The plainest way to keep the books: everything is added up again after every event.
struct PlainBooks {
  std::map<std::pair<uint32_t, uint64_t>, Object> live;
  std::map<Key, uint64_t> allocations, frees;
  int step = 0;
  std::map<uint32_t, std::vector<std::map<Key, uint64_t>>>
      states;                                  // by device or host: what each site held, after each event
  std::map<uint32_t, uint64_t> peak_reserved;  // when the peak was reached
  std::map<uint32_t, uint64_t> peak;
  std::map<Key, std::map<int, int>> survivors;  // at the end of the last complete step, by step of birth

  static uint32_t Scope(const Key& key) { return std::get<1>(key); }

  uint64_t Reserved(uint32_t device) const {
    std::set<uint64_t> pages;
    for (const auto& [id, object] : live) {
      if (std::get<0>(object.key) != DEVICE || Scope(object.key) != device) continue;
      const uint64_t end = object.address + RoundedBytes(object.address, object.bytes);
      for (uint64_t page = object.address >> 21; page <= (end - 1) >> 21; ++page) pages.insert(page);
    }
    return pages.size() << 21;
  }

  void Note() {
    std::map<uint32_t, std::map<Key, uint64_t>> held;
    std::map<uint32_t, uint64_t> total;
    for (const auto& [id, object] : live) {
      if (std::get<0>(object.key) == EVENT) continue;
      held[Scope(object.key)][object.key] += object.bytes;
      total[Scope(object.key)] += object.bytes;
    }
    for (const auto& [scope, sum] : total) {
      states[scope].push_back(held[scope]);
      if (sum > peak[scope]) {
        peak[scope] = sum;
        peak_reserved[scope] = Reserved(scope);
      }
    }
  }

  void EndStep() {
    ++step;
    survivors.clear();
    for (const auto& [id, object] : live) ++survivors[object.key][object.birth_step];
  }

  uint64_t Sum(uint32_t scope, size_t moment, const Key* without = nullptr) const {
    uint64_t sum = 0;
    for (const auto& [key, bytes] : states.at(scope)[moment]) {
      if (without == nullptr || key != *without) sum += bytes;
    }
    return sum;
  }
  uint64_t PeakWithout(const Key& key) const {
    uint64_t highest = 0;
    for (size_t i = 0; i < states.at(Scope(key)).size(); ++i) highest = std::max(highest, Sum(Scope(key), i, &key));
    return highest;
  }
  uint64_t BytesAtPeak(const Key& key) const {
    for (size_t i = 0; i < states.at(Scope(key)).size(); ++i) {
      if (Sum(Scope(key), i) != peak.at(Scope(key))) continue;
      const auto found = states.at(Scope(key))[i].find(key);
      return found == states.at(Scope(key))[i].end() ? 0 : found->second;
    }
    return 0;
  }
};

// A random program on some threads, two devices and the host, told to a trace and to the plain books alike.
struct Program {
  TraceBuilder trace;
  PlainBooks books;

  Program(uint64_t seed, int events, bool resets) {
    std::mt19937_64 random(seed);
    const auto below = [&random](uint64_t n) { return random() % n; };
    const uint32_t threads = 1 + static_cast<uint32_t>(below(5));
    std::vector<std::pair<std::pair<uint32_t, uint64_t>, AllocationId>> ids;
    std::set<uint64_t> taken;
    // Two numbers may mean one stack.
    for (uint32_t id = 1; id <= 6; ++id) trace.DefineStack(0, id, {0x1000, 0x2000 + std::min(id, 5u)});
    uint64_t time = 0;
    for (int i = 0; i < events; ++i) {
      time += 1 + below(3);
      const auto thread = static_cast<uint32_t>(below(threads));
      const uint64_t dice = below(100);
      if (dice < 52 || books.live.empty()) {
        const uint32_t kind = dice < 40 ? DEVICE : dice < 47 ? PINNED : EVENT;
        const auto device = static_cast<uint32_t>(below(2));
        const uint32_t stack = 1 + static_cast<uint32_t>(below(6));
        const uint64_t bytes = kind == EVENT ? 0 : 1 + below(below(4) == 0 ? 5 << 20 : 60000);
        // Addresses of their own, sometimes on a page's edge.
        uint64_t address = 0;
        do {
          address = (1 + below(400)) << 24 | (below(2) == 0 ? 0 : below(8192) * 512);
        } while (!taken.insert(address >> 24).second);
        const AllocationId id =
            trace.Allocate(thread, time, static_cast<schema::Kind>(kind), device, stack, address, bytes);
        const uint32_t scope = kind == PINNED ? kHost.value() : device;
        const Key key = {kind, scope, std::min(stack, 5u)};
        books.live[{id.thread, id.ordinal}] = {key, device, address, bytes, books.step};
        ++books.allocations[key];
      } else if (dice < 96) {
        auto victim = books.live.begin();
        std::advance(victim, static_cast<std::ptrdiff_t>(
                                 below(2) == 0 ? books.live.size() - 1 - below(std::min<size_t>(books.live.size(), 4))
                                               : below(books.live.size())));
        trace.Free(thread, time, static_cast<schema::Kind>(std::get<0>(victim->second.key)), victim->second.device,
                   {victim->first.first, victim->first.second});
        ++books.frees[victim->second.key];
        taken.erase(victim->second.address >> 24);
        books.live.erase(victim);
      } else if (dice < 99 || !resets) {
        trace.Step(0, time, static_cast<uint64_t>(books.step));
        books.EndStep();
      } else {
        const auto device = static_cast<uint32_t>(below(2));
        trace.Event(thread, time, schema::DEVICE_RESET, schema::KIND_NONE, device, 0, {});
        for (auto it = books.live.begin(); it != books.live.end();) {
          if (it->second.device != device) {
            ++it;
            continue;
          }
          ++books.frees[it->second.key];
          taken.erase(it->second.address >> 24);
          it = books.live.erase(it);
        }
      }
      books.Note();
      if (below(200) == 0) trace.Seal(thread);
    }
  }
};

StepPlan Marks() {
  StepPlan plan;
  plan.mark_slot = ThreadSlot(0);
  return plan;
}

// A wrong pointer, and memory that stays allocated: both are what the mark says, and nothing else.
TEST(Ledger, AFreeThatCudaRefusedIsNotOneOfUnknownMemory) {
  JobBuilder job;
  const JobObject kept = job.Allocate(1, 4096);
  job.Event(schema::FREE_UNKNOWN, schema::DEVICE, 0, {kept.address + 256});
  job.Mark(schema::MARK_FREE_REFUSED, 2, 0, 1 << 1 | 1);
  job.Free(kept);
  job.Event(schema::FREE_FAILED, schema::DEVICE, 0, {800});
  job.Mark(schema::MARK_FREE_REFUSED, 3, 0, 800 << 1);
  const TestTrace trace(job.Finish());
  Ledger ledger(*trace, Marks(), {});
  ledger.Replay();
  EXPECT_EQ(ledger.unknown_frees(), 0u);
  EXPECT_EQ(ledger.live_objects(), 1u);
  std::map<uint64_t, uint64_t> by_error;
  for (const auto& [by, times] : ledger.refused_frees()) by_error[by.second] += times;
  EXPECT_EQ(by_error, (std::map<uint64_t, uint64_t>{{1, 1}, {800, 1}}));
}

TEST(Ledger, AgreesWithPlainBookkeeping) {
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    SCOPED_TRACE(seed);
    Program program(seed, 600, /*resets=*/seed % 2 == 0);
    const std::string file = program.trace.Finish();
    const PlainBooks& books = program.books;
    absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "test");
    ASSERT_TRUE(trace.ok()) << trace.status();
    SiteHistories histories;
    LedgerOptions first;
    first.observers = {&histories};
    Ledger ledger(**trace, Marks(), first);
    ledger.Replay();
    EXPECT_EQ(ledger.unknown_frees(), 0u);
    EXPECT_EQ(ledger.live_objects(), books.live.size());
    EXPECT_EQ(ledger.steps().step(), static_cast<uint32_t>(books.step));
    ASSERT_EQ(ledger.sites().size(), books.allocations.size());

    Counterfactual counterfactual;
    for (const SiteIndex i : ledger.sites().indices()) counterfactual.Watch({i});
    std::map<DeviceIndex, uint64_t> peak_changes;
    for (const Scope& scope : ledger.scopes()) {
      if (scope.is_device()) peak_changes[scope.device] = scope.peak_change;
    }
    PeakWindows windows(peak_changes);
    LedgerOptions options;
    options.observers = {&counterfactual, &windows};
    Ledger without(**trace, Marks(), options);
    without.Replay();

    // Distinct stacks are numbered in the order of their numbers in the trace, as the program's are.
    for (const SiteIndex i : ledger.sites().indices()) {
      const Site& site = ledger.sites()[i];
      const Key key = {site.key.kind, site.key.device.value(), site.key.stack.value()};
      ASSERT_TRUE(books.allocations.count(key));
      EXPECT_EQ(site.allocations, books.allocations.at(key));
      EXPECT_EQ(site.frees, books.frees.count(key) ? books.frees.at(key) : 0);
      uint64_t live_bytes = 0, live_objects = 0;
      for (const auto& [id, object] : books.live) {
        live_bytes += object.key == key ? object.bytes : 0;
        live_objects += object.key == key;
      }
      EXPECT_EQ(site.live_bytes, live_bytes);
      EXPECT_EQ(site.live_objects, live_objects);

      // What the verdict gets to see.
      std::map<int, int> survivors;
      for (const Cohort& cohort : histories.history(i).cohorts) {
        if (cohort.live_objects > 0) survivors[static_cast<int>(cohort.step)] = static_cast<int>(cohort.live_objects);
      }
      EXPECT_EQ(survivors, books.survivors.count(key) ? books.survivors.at(key) : (std::map<int, int>()));

      if (site.scope == Site::kNoScope) continue;
      EXPECT_EQ(site.bytes_at_peak, books.BytesAtPeak(key));
      EXPECT_EQ(counterfactual.PeakWithout(i.value()), books.PeakWithout(key));
    }
    for (const Scope& scope : ledger.scopes()) {
      EXPECT_EQ(scope.peak, books.peak.at(scope.device.value()));
      if (!scope.is_device()) continue;
      const DeviceUsage& usage = scope.peak_moment.usage;
      EXPECT_EQ(usage.live, scope.peak);
      EXPECT_EQ(usage.reserved, books.peak_reserved.at(scope.device.value()));
      EXPECT_EQ(usage.reserved, usage.live + usage.rounding + usage.free_pinned);
      EXPECT_EQ(scope.end_moment.usage.reserved, books.Reserved(scope.device.value()));
      const uint64_t bound = windows.Find(scope.device)->Bound(usage.live + usage.rounding);
      EXPECT_GE(bound, usage.live + usage.rounding);
      // A placement that knows the future wastes little.
      EXPECT_LE(bound, (usage.live + usage.rounding) * 3 / 2);
    }
  }
}

TEST(Ledger, AKilledProcessHasTheSameBooks) {
  for (uint64_t seed = 100; seed < 110; ++seed) {
    Program killed(seed, 500, true), finished(seed, 500, true);
    const std::string files[] = {killed.trace.Kill(), finished.trace.Finish()};
    std::unique_ptr<Trace> traces[2];
    std::unique_ptr<Ledger> ledgers[2];
    for (int i = 0; i < 2; ++i) {
      auto trace = Trace::Read(files[i], "test");
      ASSERT_TRUE(trace.ok());
      traces[i] = *std::move(trace);
      ledgers[i] = std::make_unique<Ledger>(*traces[i], Marks());
      ledgers[i]->Replay();
    }
    ASSERT_EQ(ledgers[0]->sites().size(), ledgers[1]->sites().size());
    for (const SiteIndex i : ledgers[0]->sites().indices()) {
      EXPECT_EQ(ledgers[0]->sites()[i].live_bytes, ledgers[1]->sites()[i].live_bytes);
      EXPECT_EQ(ledgers[0]->sites()[i].bytes_at_peak, ledgers[1]->sites()[i].bytes_at_peak);
    }
  }
}

TEST(Ledger, FloorsAreTheLowestOfEachStep) {
  TraceBuilder trace;
  const AllocationId first = trace.Allocate(0, 1, DEVICE, 0, 0, 1 << 21, 100);
  trace.Step(0, 2, 0);
  trace.Allocate(0, 3, DEVICE, 0, 0, 2 << 21, 50);
  trace.Free(0, 4, DEVICE, 0, first);
  trace.Allocate(0, 5, DEVICE, 0, 0, 3 << 21, 70);
  trace.Step(0, 6, 1);
  trace.Step(0, 7, 2);
  const std::string file = trace.Finish();
  auto read = Trace::Read(file, "test");
  ASSERT_TRUE(read.ok());
  Ledger ledger(**read, Marks());
  ledger.Replay();
  ASSERT_EQ(ledger.scopes().size(), 1u);
  EXPECT_EQ(ledger.scopes()[0].floors, (std::vector<uint64_t>{0, 50, 120}));
  EXPECT_EQ(ledger.scopes()[0].ceilings, (std::vector<uint64_t>{100, 150, 120}));
  EXPECT_EQ(ledger.steps().numbers(), (std::vector<uint64_t>{0, 1, 2}));
}

TEST(Ledger, WhatTheJobAskedItsDeviceTellsWhatIsNotInTheTrace) {
  constexpr uint64_t kMiB = 1 << 20;
  TraceBuilder trace;
  trace.Allocate(0, 1, DEVICE, 0, 0, 2 * kMiB, 2 * kMiB);
  trace.Event(0, 2, schema::MEMORY_INFO, schema::KIND_NONE, 0, 0, {1000 * kMiB, 1100 * kMiB});
  const std::string file = trace.Finish();
  auto read = Trace::Read(file, "test");
  ASSERT_TRUE(read.ok());
  Ledger ledger(**read, StepPlan());
  ledger.Replay();
  EXPECT_EQ(ledger.scopes()[0].outside, 98 * kMiB);
  EXPECT_EQ(ledger.scopes()[0].total, 1100 * kMiB);
  EXPECT_EQ(ledger.scopes()[0].end_moment.device_used, 100 * kMiB);
}

TEST(Ledger, MemoryLivesUntilItIsReleasedAndNoLongerMapped) {
  constexpr uint64_t kHandle = 0x55;
  TraceBuilder trace;
  const AllocationId early = trace.Allocate(0, 1, schema::PHYSICAL, 0, 0, kHandle, 100);
  const AllocationId one = trace.Allocate(0, 2, schema::MAPPING, 0, 0, 1 << 21, 100, kHandle);
  const AllocationId two = trace.Allocate(0, 3, schema::MAPPING, 0, 0, 2 << 21, 100, kHandle);
  trace.Free(0, 4, schema::PHYSICAL, 0, early);  // the handle may be given out again now, the memory not
  const AllocationId late = trace.Allocate(0, 5, schema::PHYSICAL, 0, 0, kHandle, 30);
  const AllocationId three = trace.Allocate(0, 6, schema::MAPPING, 0, 0, 3 << 21, 30, kHandle);
  trace.Step(0, 7, 1);
  trace.Free(0, 8, schema::MAPPING, 0, three);  // not released yet
  trace.Free(0, 9, schema::MAPPING, 0, one);
  trace.Step(0, 10, 2);
  trace.Free(0, 11, schema::MAPPING, 0, two);
  trace.Step(0, 12, 3);
  trace.Free(0, 13, schema::PHYSICAL, 0, late);
  trace.Step(0, 14, 4);
  const std::string file = trace.Finish();
  auto read = Trace::Read(file, "test");
  ASSERT_TRUE(read.ok());
  Ledger ledger(**read, Marks());
  ledger.Replay();
  ASSERT_EQ(ledger.scopes().size(), 1u) << "addresses are no memory";
  EXPECT_EQ(ledger.scopes()[0].ceilings, (std::vector<uint64_t>{130, 130, 130, 30}));
  EXPECT_EQ(ledger.scopes()[0].floors, (std::vector<uint64_t>{0, 130, 30, 0}));
  EXPECT_EQ(ledger.live_objects(), 0u);
}

TEST(Ledger, AnEventMayHaveTheLatestOfAllTimes) {
  TraceBuilder builder;
  builder.DefineProcess(0, 1, {"./job"});
  builder.Allocate(0, UINT64_MAX, schema::DEVICE, 0, 0, 4096, 512);
  const std::string file = builder.Finish();
  const auto trace = Trace::Read(file, "test");
  ASSERT_TRUE(trace.ok()) << trace.status();
  Ledger ledger(**trace, StepPlan());
  ledger.Replay();
  EXPECT_EQ(ledger.live_objects(), 1u);
}

TEST(LiveTable, KeepsWhatOutlivesTheWindow) {
  LiveTable table(3);
  std::map<AllocationName, uint64_t> expected;
  std::mt19937_64 random(7);
  IndexedVector<ThreadSlot, uint64_t> next(3);
  for (int i = 0; i < 200000; ++i) {
    const ThreadSlot slot(static_cast<uint32_t>(random() % 3));
    if (random() % 100 < 55 || expected.empty()) {
      LiveAllocation *added = nullptr, replaced;
      next[slot] += 1 + (random() % 50 == 0 ? random() % 1000 : 0);
      EXPECT_FALSE(table.Insert(slot, next[slot], &added, &replaced));
      added->bytes = random();
      added->site = SiteIndex(1);
      expected[{slot, next[slot]}] = added->bytes;
    } else {
      auto victim = expected.lower_bound({slot, next[slot] - std::min(next[slot], random() % 9000)});
      if (victim == expected.end()) victim = expected.begin();
      LiveAllocation removed;
      ASSERT_TRUE(table.Remove(victim->first.first, victim->first.second, &removed));
      EXPECT_EQ(removed.bytes, victim->second);
      EXPECT_FALSE(table.Remove(victim->first.first, victim->first.second, &removed));
      expected.erase(victim);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
}

}  // namespace
}  // namespace vramtrack
