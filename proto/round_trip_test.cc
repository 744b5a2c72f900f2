// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "proto/block_decoder.h"
#include "proto/frame_scanner.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

using Events = std::map<uint32_t, std::vector<RecordedEvent>>;

void Decode(std::string_view payload, Events* events) {
  BlockDecoder decoder;
  ASSERT_TRUE(decoder.Open(payload)) << decoder.error();
  std::vector<RecordedEvent>& to = (*events)[decoder.header().thread];
  ASSERT_EQ(decoder.header().first_sequence, to.size());
  DecodedEvent event;
  while (decoder.Next(&event)) {
    const DecodedShape& shape = *event.shape;
    RecordedEvent read;
    read.operation = shape.operation;
    read.kind = shape.kind;
    read.device = shape.device;
    read.ref = shape.ref;
    read.bytes = shape.bytes;
    read.stream = shape.stream;
    read.time = event.time;
    if (shape.operation == schema::ALLOCATE || shape.operation == schema::FREE) read.ordinal = event.ordinal;
    if (shape.operation == schema::ALLOCATE) read.address = event.address;
    size_t values = 0;
    switch (shape.operation) {
      case schema::FREE_UNKNOWN:
      case schema::FAIL:
      case schema::FREE_FAILED:
        values = 1;
        break;
      case schema::STEP:
      case schema::MEMORY_INFO:
      case schema::TRIM:
      case schema::LIMIT:
      case schema::FRAMEWORK_MEMORY:
      case schema::MARK:
        values = 2;
        break;
      default:
        break;
    }
    read.values.assign(event.value, event.value + values);
    to.push_back(read);
  }
  EXPECT_STREQ(decoder.error(), "");
}

Events DecodeFile(const std::string& file) {
  TraceLayout layout;
  EXPECT_EQ(ScanTrace(file, &layout), "");
  EXPECT_TRUE(layout.damage.empty());
  Events events;
  for (const FrameRef& block : layout.blocks) Decode(block.payload, &events);
  // What a killed process left, sealed as it would have been.
  BlockEncoder* encoder = new BlockEncoder();
  for (const FrameRef& journal : layout.journals) {
    std::vector<uint64_t> words(journal.payload.size() / 8);
    std::memcpy(words.data(), journal.payload.data(), 8 * words.size());
    const JournalView view = {static_cast<uint32_t>(words[kJournalThread]), words[kJournalFirstSequence],
                              words[kJournalFirstAllocation], words.data() + kJournalHeaderWords,
                              static_cast<size_t>(words[kJournalCommitted])};
    size_t bytes, read;
    BlockSummary summary;
    const uint8_t* frame = encoder->Encode(view, 0, &bytes, &summary, &read);
    EXPECT_EQ(read, words[kJournalCommitted]);
    if (bytes == 0) continue;
    Decode({reinterpret_cast<const char*>(frame) + kSealedPrefixBytes, bytes - kSealedPrefixBytes}, &events);
  }
  delete encoder;
  for (auto it = events.begin(); it != events.end();) it = it->second.empty() ? events.erase(it) : std::next(it);
  return events;
}

TEST(RoundTrip, EveryEventComesBack) {
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE(seed);
    const int events = seed % 10 == 0 ? 60000 : 800;
    RandomTrace finished(seed, events, 1 + seed % 5);
    EXPECT_EQ(DecodeFile(finished.trace.Finish()), finished.events);
    RandomTrace killed(seed, events, 1 + seed % 5);
    EXPECT_EQ(DecodeFile(killed.trace.Kill()), killed.events);
  }
}

TEST(RoundTrip, ABlockIsNeverMuchLargerThanItsJournal) {
  // The encoder's buffers are sized for it: hostile values must not lose events.
  TraceBuilder trace;
  for (uint64_t i = 0; i < 30000; ++i) {
    const uint64_t noise = i * 0x9e3779b97f4a7c15;
    trace.Allocate(0, i, schema::DEVICE, 255, static_cast<uint32_t>(noise), noise, ~noise, noise | 1);
  }
  TraceLayout layout;
  const std::string file = trace.Finish();
  ASSERT_EQ(ScanTrace(file, &layout), "");
  uint64_t events = 0;
  for (const FrameRef& block : layout.blocks) {
    BlockHeader header;
    ASSERT_TRUE(BlockDecoder::ReadHeader(block.payload, &header));
    events += header.event_count;
    EXPECT_EQ(header.operations, 1u << schema::ALLOCATE);
  }
  EXPECT_EQ(events, 30000u);
}

TEST(RoundTrip, UsualEventsTakeFewBytes) {
  TraceBuilder trace;
  uint64_t events = 0;
  for (uint64_t step = 0; step < 200; ++step) {
    for (uint64_t i = 0; i < 100; ++i) {
      const uint64_t time = step * 1000000 + i * 2000;
      const AllocationId id = trace.Allocate(0, time, schema::DEVICE, 0, static_cast<uint32_t>(i),
                                             0x7f0000000000 + (i << 21), 4096 * (i + 1));
      trace.Free(0, time + 900, schema::DEVICE, 0, id);
      events += 2;
    }
  }
  EXPECT_LT(static_cast<double>(trace.Finish().size() - kHeaderBytes) / static_cast<double>(events), 6.0);
}

}  // namespace
}  // namespace vramtrack
