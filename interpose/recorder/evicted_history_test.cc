// SPDX-License-Identifier: Apache-2.0
//
// Without memory for its tables, the past says so instead of writing a checkpoint that lacks something.
#include "interpose/recorder/evicted_history.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>

#include "interpose/base/system_call.h"
#include "proto/journal.h"
#include "proto/message_writer.h"
#include "proto/schema_constants.h"

namespace vramtrack {
namespace {

EvictedHistory* NewPast() { return static_cast<EvictedHistory*>(MapPrivate(sizeof(EvictedHistory))); }

bool Encodes(EvictedHistory* past) {
  GrowingArray<uint8_t> out = {};
  return past->Encode(0, &out);
}

// Calls `change` while no memory can be mapped. Ends the process with 0 if the past then refuses to be encoded.
[[noreturn]] void ChangeWithoutMemory(EvictedHistory* past, void (*change)(EvictedHistory*)) {
  rlimit before, none;
  getrlimit(RLIMIT_AS, &before);
  none = {0, before.rlim_max};
  setrlimit(RLIMIT_AS, &none);
  change(past);
  setrlimit(RLIMIT_AS, &before);
  _Exit(Encodes(past) ? 1 : 0);
}

JournalView ViewOf(const uint64_t* records, size_t words) { return {0, 0, 0, records, words}; }

TEST(EvictedHistory, LosesNoFigureSilentlyWhereBinsBecomeWider) {
  for (const uint32_t operation : {schema::MEMORY_INFO, schema::FRAMEWORK_MEMORY}) {
    EvictedHistory* past = NewPast();
    const uint64_t records[] = {EventWord(operation, 0, 0, 0, 0), 1000, 1 << 20, 2 << 20};
    ASSERT_EQ(RecordWords(records[0]), 4u);
    ASSERT_TRUE(past->Add(ViewOf(records, 4), 1, nullptr, 0));
    ASSERT_TRUE(Encodes(past));
    EXPECT_EXIT(ChangeWithoutMemory(past, [](EvictedHistory* one) { one->Coarsen(); }), testing::ExitedWithCode(0), "")
        << operation;
  }
}

TEST(EvictedHistory, LosesNoReadingOfTheHostSilentlyWhereBinsBecomeWider) {
  EvictedHistory* past = NewPast();
  uint8_t definitions[64];
  MessageWriter out(definitions, sizeof definitions);
  uint8_t* reading = out.Begin(schema::definitions_field::host_readings);
  out.Varint(schema::hostReading_field::time, 1000);
  out.Varint(schema::hostReading_field::resident, 1 << 20);
  out.End(reading);
  ASSERT_TRUE(past->Add(ViewOf(nullptr, 0), 0, definitions, out.size()));
  ASSERT_TRUE(Encodes(past));
  EXPECT_EXIT(ChangeWithoutMemory(past, [](EvictedHistory* one) { one->Coarsen(); }), testing::ExitedWithCode(0), "");
}

TEST(EvictedHistory, LosesNoFreeSilentlyWhereAThreadEnds) {
  EvictedHistory* past = NewPast();
  // The free of an allocation of another thread that has not been added yet.
  const uint64_t records[] = {EventWord(schema::FREE, schema::DEVICE, 0, 0, 7), 1000, 0};
  ASSERT_EQ(RecordWords(records[0]), 3u);
  ASSERT_TRUE(past->Add(ViewOf(records, 3), 1, nullptr, 0));
  EXPECT_EXIT(ChangeWithoutMemory(past, [](EvictedHistory* one) { one->EndThread(0); }), testing::ExitedWithCode(0),
              "");
  past->EndThread(0);
  EXPECT_TRUE(Encodes(past));
}

}  // namespace
}  // namespace vramtrack
