// SPDX-License-Identifier: Apache-2.0
//
// Calls that fail or make no sense, frees in unexpected places, and addresses that are given out again at once.
#include <gtest/gtest.h>
#include <stdio.h>

#include <cstring>
#include <set>

#include "analyzer/ledger/ledger.h"
#include "tests/hazards/hazard.h"

namespace vramtrack {
namespace {

// The CUDA functions that the library exports.
std::vector<std::string> HookedEntries() {
  std::vector<std::string> entries;
  FILE* names =
      popen(("nm -D --defined-only --format=just-symbols " + DataPath(getenv("PRELOAD_LIBRARY"))).c_str(), "r");
  char name[256];
  while (names != nullptr && fgets(name, sizeof name, names) != nullptr) {
    std::string entry(name, strcspn(name, "@\n"));
    if (entry.rfind("cu", 0) == 0) entries.push_back(entry);
  }
  if (names != nullptr) pclose(names);
  return entries;
}

TEST(CallsTest, NullArgumentsAreTheRealFunctionsBusiness) {
  const std::vector<std::string> entries = HookedEntries();
  ASSERT_GT(entries.size(), 40u);
  ExpectUnharmed({"", "null_arguments", entries, {.allocations = 0, .frees = 0, .failures = Expected::kAny}});
}

TEST(CallsTest, FreesOnAnotherThreadStreamAndDevice) {
  Hazard hazard{"", "free_elsewhere", {}, {.allocations = 1042, .frees = 1042}};
  hazard.options.environment["SIMCUDA_DEVICES"] = "2";
  ExpectUnharmed(hazard);
}

TEST(CallsTest, TheDeviceOfAnAllocationNeedNotBeAskedFor) {
  Hazard hazard{
      "", "devices_of_threads", {}, {.allocations = Expected::kAny, .frees = Expected::kAny, .live = Expected::kAny}};
  hazard.options.environment["SIMCUDA_DEVICES"] = "2";
  const RunResult run = ExpectUnharmed(hazard);
  ASSERT_EQ(run.traces.size(), 1u);
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok());
  EventStream stream(**trace);
  size_t of_device[2] = {};
  for (StreamEvent event; stream.Next(&event);) {
    if (event.operation != schema::ALLOCATE || event.shape->kind != schema::DEVICE) continue;
    EXPECT_EQ(event.shape->device, event.shape->bytes / 4096 % 2) << event.shape->bytes;
    ++of_device[event.shape->device % 2];
  }
  EXPECT_EQ(of_device[0], 6u);
  EXPECT_EQ(of_device[1], 7u);
}

TEST(CallsTest, WhatSeveralThreadsAreGivenAtOnceIsRecordedOnce) {
  const RunResult run = ExpectUnharmed(
      {"", "first_calls_at_once", {"60"}, {.processes = 60, .finished = 60, .allocations = 480, .frees = 480}});
  for (const std::string& path : run.traces) {
    auto trace = Trace::Open(path);
    ASSERT_TRUE(trace.ok());
    EventStream stream(**trace);
    int contexts = 0;
    for (StreamEvent event; stream.Next(&event);) {
      contexts += event.operation == schema::ALLOCATE && event.shape->kind == schema::CONTEXT;
    }
    EXPECT_EQ(contexts, 1) << path;
  }
}

TEST(CallsTest, AnAddressGivenOutAgainIsNeverTakenForTheOldOne) {
  const RunResult run = ExpectUnharmed({"", "address_given_out_again", {}, {.allocations = 60000, .frees = 60000}});
  ASSERT_EQ(run.traces.size(), 1u);
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok());
  // At any time an address belongs to at most one allocation.
  std::map<uint64_t, AllocationName> holder;
  std::map<AllocationName, uint64_t> address_of;
  EventStream stream(**trace);
  StreamEvent event;
  uint64_t wrong = 0;
  while (stream.Next(&event)) {
    const AllocationName identity(event.owner, event.ordinal);
    if (event.operation == schema::ALLOCATE) {
      if (!holder.emplace(event.address, identity).second) ++wrong;
      address_of[identity] = event.address;
    } else {
      const auto held = holder.find(address_of[identity]);
      if (held == holder.end() || held->second != identity) {
        ++wrong;
      } else {
        holder.erase(held);
      }
    }
  }
  EXPECT_EQ(wrong, 0u);
}

// Compares what the ledger counts with what the driver said was free.
class DriverFigures : public ReplayObserver {
 public:
  void OnBegin(const Ledger& ledger) override { ledger_ = &ledger; }
  void OnOtherEvent(const StreamEvent& event) override {
    if (event.operation != schema::MEMORY_INFO) return;
    uint64_t live = 0;
    for (const Scope& scope : ledger_->scopes()) live += scope.is_device() ? scope.live : 0;
    if (differences_.empty()) first_free_ = event.value[0];
    differences_.push_back(static_cast<int64_t>(first_free_ - event.value[0]) - static_cast<int64_t>(live));
  }
  const std::vector<int64_t>& differences() const { return differences_; }

 private:
  const Ledger* ledger_ = nullptr;
  uint64_t first_free_ = 0;
  std::vector<int64_t> differences_;
};

TEST(CallsTest, AMulticastObjectKeepsWhatIsBoundToIt) {
  // Live: the context, two address ranges; a multicast object, a binding and its memory, whose handle is released.
  const RunResult run = ExpectUnharmed(
      {"", "multicast_objects", {}, {.allocations = Expected::kAny, .frees = Expected::kAny, .live = Expected::kAny}});
  ASSERT_EQ(run.traces.size(), 1u);
  EXPECT_NE(run.out.find("gone with its object: 2 MiB\n"), std::string::npos) << run.out;
  auto trace = Trace::Open(run.traces[0]);
  ASSERT_TRUE(trace.ok());
  // A binding is no memory that comes back to where it was.
  std::set<uint64_t> mapped;
  size_t mappings = 0;
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    if (event.operation != schema::ALLOCATE || event.shape->kind != schema::MAPPING) continue;
    mapped.insert(event.address);
    ++mappings;
  }
  EXPECT_EQ(mappings, 307u);
  EXPECT_EQ(mapped.size(), mappings);
  DriverFigures figures;
  LedgerOptions options;
  options.observers = {&figures};
  Ledger ledger(**trace, {}, options);
  ledger.Replay();
  EXPECT_EQ(figures.differences(), std::vector<int64_t>(11, 0));
}

}  // namespace
}  // namespace vramtrack
