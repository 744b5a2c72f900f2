// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/event_stream.h"

#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/ingest/testing/fuzz_file.h"
#include "proto/testing/random_trace.h"
#include "proto/testing/trace_builder.h"

namespace vramtrack {
namespace {

using schema::ALLOCATE;
using schema::DEVICE;
using schema::FREE;
using schema::FREE_FAILED;
using schema::FREE_UNKNOWN;

struct Seen {
  uint32_t operation, slot, owner;
  uint64_t ordinal;
  bool operator==(const Seen& other) const {
    return operation == other.operation && slot == other.slot && owner == other.owner && ordinal == other.ordinal;
  }
};

std::vector<Seen> ReadAll(const std::string& file) {
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "test");
  EXPECT_TRUE(trace.ok()) << trace.status();
  std::vector<Seen> seen;
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    const bool identity = event.operation == ALLOCATE || event.operation == FREE;
    seen.push_back({event.operation, event.slot.value(), event.owner.value(), identity ? event.ordinal : 0});
  }
  return seen;
}

TEST(EventStream, DeliversThreadsByTime) {
  TraceBuilder trace;
  trace.Allocate(1, 10, DEVICE, 0, 0, 4096, 1);
  trace.Allocate(2, 5, DEVICE, 0, 0, 8192, 1);
  trace.Allocate(1, 30, DEVICE, 0, 0, 4096, 1);
  trace.Allocate(2, 20, DEVICE, 0, 0, 8192, 1);
  const std::vector<Seen> expected = {
      {ALLOCATE, 1, 1, 0}, {ALLOCATE, 0, 0, 0}, {ALLOCATE, 1, 1, 1}, {ALLOCATE, 0, 0, 1}};
  EXPECT_EQ(ReadAll(trace.Finish()), expected);
}

TEST(EventStream, AnAllocationComesBeforeItsFreeThoughTheClocksDisagree) {
  TraceBuilder trace;
  // Thread 2's clock is 1000 ticks behind; it frees what 1 allocated, and 3 (further behind) what 2 allocated.
  const AllocationId first = trace.Allocate(1, 1100, DEVICE, 0, 0, 4096, 1);
  trace.Free(2, 110, DEVICE, 0, first);
  const AllocationId second = trace.Allocate(2, 120, DEVICE, 0, 0, 8192, 1);
  trace.Free(3, 5, DEVICE, 0, second);
  const std::vector<Seen> expected = {{ALLOCATE, 0, 0, 0}, {FREE, 1, 0, 0}, {ALLOCATE, 1, 1, 0}, {FREE, 2, 1, 0}};
  EXPECT_EQ(ReadAll(trace.Finish()), expected);
}

TEST(EventStream, AFreeWithoutAnAllocationIsUnknown) {
  TraceBuilder trace;
  trace.Free(1, 10, DEVICE, 0, {7, 3});   // a thread that is not there
  trace.Free(1, 11, DEVICE, 0, {2, 99});  // more than thread 2 ever allocated
  trace.Free(1, 12, DEVICE, 0, {1, 5});   // the thread's own future
  trace.Allocate(2, 20, DEVICE, 0, 0, 4096, 1);
  const std::vector<Seen> seen = ReadAll(trace.Finish());
  ASSERT_EQ(seen.size(), 4u);
  size_t unknown = 0;
  for (const Seen& event : seen) unknown += event.operation == FREE_UNKNOWN;
  EXPECT_EQ(unknown, 3u);
}

TEST(EventStream, ThreadsThatWaitForEachOtherDoNotHang) {
  TraceBuilder trace;
  trace.Free(1, 10, DEVICE, 0, {2, 0});
  trace.Allocate(1, 20, DEVICE, 0, 0, 4096, 1);
  trace.Free(2, 10, DEVICE, 0, {1, 0});
  trace.Allocate(2, 20, DEVICE, 0, 0, 8192, 1);
  EXPECT_EQ(ReadAll(trace.Finish()).size(), 4u);
}

TEST(EventStream, AFreeThatFailedIsLeftOut) {
  for (const bool apart : {false, true}) {
    SCOPED_TRACE(apart);
    TraceBuilder trace;
    const AllocationId id = trace.Allocate(1, 10, DEVICE, 0, 0, 4096, 1);
    trace.Free(1, 20, DEVICE, 0, id);
    if (apart) trace.Seal(1);
    trace.Event(1, 21, FREE_FAILED, DEVICE, 0, 0, {1});
    trace.Free(1, 30, DEVICE, 0, id);
    const std::vector<Seen> expected = {{ALLOCATE, 0, 0, 0}, {FREE, 0, 0, 0}};
    EXPECT_EQ(ReadAll(trace.Finish()), expected);
  }
}

TEST(EventStream, ThousandsOfShortThreads) {
  TraceBuilder trace;
  std::vector<AllocationId> ids;
  for (uint32_t thread = 0; thread < 3000; ++thread) {
    ids.push_back(trace.Allocate(thread, 10 * thread, DEVICE, 0, 0, 4096, 1));
    if (thread > 0) trace.Free(thread, 10 * thread + 5, DEVICE, 0, ids[thread - 1]);
  }
  const std::vector<Seen> seen = ReadAll(trace.Finish());
  ASSERT_EQ(seen.size(), 5999u);
  std::set<std::pair<uint32_t, uint64_t>> live;
  for (const Seen& event : seen) {
    if (event.operation == ALLOCATE) {
      EXPECT_TRUE(live.insert({event.owner, event.ordinal}).second);
    } else {
      EXPECT_EQ(event.operation, FREE);
      EXPECT_EQ(live.erase({event.owner, event.ordinal}), 1u);
    }
  }
  EXPECT_EQ(live.size(), 1u);
}

TEST(EventStream, AKilledProcessLeavesTheSameEvents) {
  TraceBuilder killed, finished;
  for (TraceBuilder* trace : {&killed, &finished}) {
    for (uint64_t i = 0; i < 40000; ++i) {
      const auto thread = static_cast<uint32_t>(i % 3);
      const AllocationId id = trace->Allocate(thread, i, DEVICE, 0, 0, 512 * i, i % 100);
      if (i % 2 == 0) trace->Free(thread, i, DEVICE, 0, id);
    }
  }
  EXPECT_EQ(ReadAll(killed.Kill()), ReadAll(finished.Finish()));
}

// All that an event says, and how often a note was taken at its shape.
std::vector<uint64_t> Content(const StreamEvent& event) {
  std::vector<uint64_t> content = {event.operation,     event.slot.value(), event.shape->kind,
                                   event.shape->device, event.shape->bytes, event.shape->stream,
                                   event.time,          event.past,         (*event.note)++};
  if (event.operation == ALLOCATE || event.operation == FREE) {
    content.insert(content.end(), {event.owner.value(), event.ordinal});
  }
  return content;
}

void ExpectTheSameInBatches(const std::string& file) {
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "test");
  ASSERT_TRUE(trace.ok()) << trace.status();
  std::vector<std::vector<uint64_t>> one_by_one, in_batches;
  EventStream single(**trace), batches(**trace);
  for (StreamEvent event; single.Next(&event);) one_by_one.push_back(Content(event));
  for (;;) {
    const std::vector<StreamEvent>& events = batches.Read();
    if (events.empty()) break;
    for (const StreamEvent& event : events) in_batches.push_back(Content(event));
  }
  EXPECT_TRUE(in_batches == one_by_one);
  EXPECT_TRUE(batches.Read().empty());
  EXPECT_EQ(batches.unreadable_events(), single.unreadable_events());
}

TEST(EventStream, DeliversTheSameInBatches) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    RandomTrace random(seed, seed == 4 ? 100000 : 20000, static_cast<uint32_t>(seed));
    ExpectTheSameInBatches(seed % 2 == 0 ? random.trace.Kill() : random.trace.Finish());
  }
}

TEST(EventStream, DeliversTheSameInBatchesOfADamagedTrace) {
  RandomTrace random(7, 30000, 3);
  std::string file = random.trace.Finish();
  for (size_t at = file.size() / 4; at < file.size(); at += file.size() / 4) file[at] ^= 0x55;
  ExpectTheSameInBatches(file);
  file.resize(file.size() / 2);
  ExpectTheSameInBatches(file);
}

TEST(EventStream, DeliversTheSameInBatchesOfATraceOfBoundedSize) {
  for (const std::string& seed : FuzzSeeds()) {
    const std::string file = FileOfFuzzInput(reinterpret_cast<const uint8_t*>(seed.data()), seed.size());
    if (Trace::Read(file, "test").ok()) ExpectTheSameInBatches(file);
  }
}

}  // namespace
}  // namespace vramtrack
