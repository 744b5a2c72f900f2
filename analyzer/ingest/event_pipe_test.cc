// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/event_pipe.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "analyzer/ingest/testing/fuzz_file.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

// All that an event says, and how often a note was taken at its shape.
std::vector<uint64_t> Told(const StreamEvent& event) {
  std::vector<uint64_t> told = {event.operation,     event.slot.value(), event.shape->kind,
                                event.shape->device, event.shape->bytes, event.shape->stream,
                                event.time,          event.past,         (*event.note)++};
  if (event.operation == schema::ALLOCATE || event.operation == schema::FREE) {
    told.insert(told.end(), {event.owner.value(), event.ordinal});
  }
  return told;
}

std::vector<std::vector<uint64_t>> OfStream(const Trace& trace, uint64_t* unreadable) {
  std::vector<std::vector<uint64_t>> all;
  EventStream stream(trace);
  for (StreamEvent event; stream.Next(&event);) all.push_back(Told(event));
  *unreadable = stream.unreadable_events();
  return all;
}

std::vector<std::vector<uint64_t>> OfPipe(const Trace& trace, bool ahead, uint64_t* unreadable) {
  std::vector<std::vector<uint64_t>> all;
  EventPipe pipe(trace, ahead);
  for (;;) {
    const std::vector<StreamEvent>& events = pipe.Next();
    if (events.empty()) break;
    for (const StreamEvent& event : events) all.push_back(Told(event));
  }
  EXPECT_TRUE(pipe.Next().empty());
  *unreadable = pipe.unreadable_events();
  return all;
}

void ExpectTheSame(const std::string& file) {
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "test");
  ASSERT_TRUE(trace.ok()) << trace.status();
  uint64_t expected_unreadable, unreadable;
  const std::vector<std::vector<uint64_t>> expected = OfStream(**trace, &expected_unreadable);
  for (const bool ahead : {false, true}) {
    const std::vector<std::vector<uint64_t>> events = OfPipe(**trace, ahead, &unreadable);
    EXPECT_TRUE(events == expected) << "ahead: " << ahead;
    EXPECT_EQ(unreadable, expected_unreadable);
  }
}

TEST(EventPipe, DeliversTheStream) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    RandomTrace random(seed, seed == 4 ? 100000 : 20000, static_cast<uint32_t>(seed));
    ExpectTheSame(seed % 2 == 0 ? random.trace.Kill() : random.trace.Finish());
  }
}

TEST(EventPipe, DeliversWhatIsLeftOfADamagedTrace) {
  RandomTrace random(7, 30000, 3);
  std::string file = random.trace.Finish();
  for (size_t at = file.size() / 4; at < file.size(); at += file.size() / 4) file[at] ^= 0x55;
  ExpectTheSame(file);
  file.resize(file.size() / 2);
  ExpectTheSame(file);
}

TEST(EventPipe, DeliversThePastOfATraceOfBoundedSize) {
  for (const std::string& seed : FuzzSeeds()) {
    const std::string file = FileOfFuzzInput(reinterpret_cast<const uint8_t*>(seed.data()), seed.size());
    if (Trace::Read(file, "test").ok()) ExpectTheSame(file);
  }
}

TEST(EventPipe, MayBeLeftBeforeItsEnd) {
  RandomTrace random(3, 50000, 2);
  const std::string file = random.trace.Finish();
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "test");
  ASSERT_TRUE(trace.ok()) << trace.status();
  { const EventPipe unread(**trace, /*ahead=*/true); }
  EventPipe pipe(**trace, /*ahead=*/true);
  EXPECT_FALSE(pipe.Next().empty());
}

}  // namespace
}  // namespace vramtrack
