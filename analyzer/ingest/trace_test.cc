// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ingest/trace.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

#include "analyzer/base/testing/test_folder.h"
#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace_choice.h"
#include "proto/testing/random_trace.h"

namespace vramtrack {
namespace {

std::unique_ptr<Trace> ReadTrace(const std::string& file) {
  absl::StatusOr<std::unique_ptr<Trace>> trace = Trace::Read(file, "test");
  EXPECT_TRUE(trace.ok()) << trace.status();
  return trace.ok() ? *std::move(trace) : nullptr;
}

uint64_t Delivered(const Trace& trace) {
  EventStream stream(trace);
  uint64_t events = 0;
  for (StreamEvent event; stream.Next(&event);) ++events;
  return events;
}

void Record(TraceBuilder* trace) {
  for (uint64_t i = 0; i < 10; ++i) trace->Allocate(0, 100 + i, schema::DEVICE, 0, 0, 512 * (i + 1), 100);
}

TEST(Trace, AJournalThatWasSealedAlreadyCountsOnce) {
  // The process was killed between writing the block and emptying the journal.
  TraceBuilder sealed, unsealed;
  Record(&sealed);
  Record(&unsealed);
  sealed.Seal(0);
  const std::string file = sealed.Kill() + unsealed.Kill().substr(kHeaderBytes);
  const std::unique_ptr<Trace> trace = ReadTrace(file);
  EXPECT_EQ(trace->events(), 10u);
  EXPECT_EQ(Delivered(*trace), 10u);
  EXPECT_EQ(trace->lost_events(), 0u);
  EXPECT_TRUE(trace->damage().empty());
}

// The first block of the thread, and its second block or the journal that becomes it, each as the file has it.
struct TwoBlocks {
  std::string header, first, second, full_journal, empty_journal;

  TwoBlocks() {
    TraceBuilder unsealed, sealed;
    for (TraceBuilder* builder : {&unsealed, &sealed}) {
      Record(builder);
      builder->Seal(0);
      Record(builder);
    }
    sealed.Seal(0);
    TraceLayout before, after;
    const std::string early = unsealed.Kill(), late = sealed.Kill();
    EXPECT_EQ(ScanTrace(early, &before), "");
    EXPECT_EQ(ScanTrace(late, &after), "");
    header = late.substr(0, kHeaderBytes);
    const auto frame = [](const std::string& file, const FrameRef& ref, size_t prefix) {
      return file.substr(ref.offset, prefix + ref.payload.size());
    };
    first = frame(late, after.blocks.at(0), kSealedPrefixBytes);
    second = frame(late, after.blocks.at(1), kSealedPrefixBytes);
    full_journal = frame(early, before.journals.at(0), kJournalWordsOffset);
    empty_journal = frame(late, after.journals.at(0), kJournalWordsOffset);
  }
};

TEST(Trace, ABlockThatWasBeingWrittenLosesNothingWhereverItEnds) {
  const TwoBlocks file;
  for (size_t cut = 0; cut <= file.second.size(); ++cut) {
    const std::string killed = file.header + file.full_journal + file.first + file.second.substr(0, cut);
    const std::unique_ptr<Trace> trace = ReadTrace(killed);
    EXPECT_EQ(Delivered(*trace), 20u) << cut;
    EXPECT_EQ(trace->lost_events(), 0u) << cut;
    EXPECT_TRUE(trace->damage().empty()) << cut;
  }
}

TEST(Trace, ACutThatLosesABlockIsSeenWhereverItIs) {
  const TwoBlocks file;
  for (size_t cut = 0; cut < file.second.size(); ++cut) {
    const std::string copied = file.header + file.empty_journal + file.first + file.second.substr(0, cut);
    const std::unique_ptr<Trace> trace = ReadTrace(copied);
    EXPECT_EQ(Delivered(*trace), 10u) << cut;
    EXPECT_EQ(trace->lost_events(), 10u) << cut;
  }
}

TEST(Trace, AFinishedFileWithoutItsTrailerWasCut) {
  TraceBuilder builder;
  Record(&builder);
  const std::string file = builder.Finish();
  for (size_t bytes = 1; bytes <= kTrailerBytes; ++bytes) {
    const std::string cut = file.substr(0, file.size() - bytes);
    EXPECT_FALSE(ReadTrace(cut)->damage().empty()) << bytes;
  }
}

TEST(Trace, AJournalOfDefinitionsAloneDoesNotHideTheNextOne) {
  TraceBuilder trace;
  trace.DefineThread(0, 11, "worker");
  trace.Seal(0);  // a block without events
  Record(&trace);
  const std::unique_ptr<Trace> read = ReadTrace(trace.Kill());
  EXPECT_EQ(Delivered(*read), 10u);
  EXPECT_EQ(read->definitions().threads.at(0).name, "worker");
}

TEST(Trace, GapsInTheNumberingAreLostEvents) {
  TraceBuilder builder;
  Record(&builder);
  builder.Seal(0);
  Record(&builder);
  builder.Seal(0);
  Record(&builder);
  std::string file = builder.Finish();
  TraceLayout layout;
  ASSERT_EQ(ScanTrace(file, &layout), "");
  ASSERT_EQ(layout.blocks.size(), 3u);
  file[layout.blocks[1].offset + kSealedPrefixBytes + 3] ^= 1;
  const std::unique_ptr<Trace> trace = ReadTrace(file);
  EXPECT_EQ(trace->lost_events(), 10u);
  EXPECT_EQ(Delivered(*trace), 20u);
  EXPECT_EQ(trace->damage().size(), 1u);
  EXPECT_NE(trace->IncompleteWhy().find("offset"), std::string::npos);
}

TEST(Trace, AJournalCutWithTheFileGivesWhatIsLeftOfIt) {
  TraceBuilder builder;
  Record(&builder);
  const std::string file = builder.Kill();
  const size_t records = kHeaderBytes + kJournalWordsOffset + 8 * kJournalHeaderWords;
  const std::unique_ptr<Trace> trace = ReadTrace(file.substr(0, records + 5 * 32));
  EXPECT_EQ(Delivered(*trace), 5u);
  EXPECT_EQ(trace->lost_bytes(), 5u * 32);
}

TEST(Trace, WhyItIsIncomplete) {
  TraceBuilder builder;
  Record(&builder);
  std::string file = builder.Finish();
  EXPECT_EQ(ReadTrace(file)->IncompleteWhy(), "");
  const uint64_t reason = schema::STOP_DISK_FULL, lost = 17;
  std::memcpy(&file[kHeaderCountersOffset + 8 * schema::COUNTER_STOP_REASON], &reason, 8);
  std::memcpy(&file[kHeaderCountersOffset + 8 * schema::COUNTER_LOST_EVENTS], &lost, 8);
  const std::string why = ReadTrace(file)->IncompleteWhy();
  EXPECT_NE(why.find("disk"), std::string::npos);
  EXPECT_NE(why.find("17 events"), std::string::npos);
}

TEST(Trace, FoldersMeanTheTracesInThem) {
  TestFolder folder;
  for (const char* name : {"b.vtrace", "a.vtrace", "other.txt"}) folder.WriteAs(name, "x");
  const absl::StatusOr<std::vector<std::string>> paths = ListTraces(folder.path());
  ASSERT_TRUE(paths.ok());
  ASSERT_EQ(paths->size(), 2u);
  EXPECT_EQ((*paths)[0].substr((*paths)[0].size() - 8), "a.vtrace");
  EXPECT_FALSE(ListTraces(folder.path() + "/missing").ok());
  EXPECT_FALSE(Trace::Open(folder.path()).ok());
  EXPECT_FALSE(Trace::Open("/dev/null").ok());
}

TEST(TickClock, TakesTheLongestMeasurement) {
  uint64_t counters[kHeaderCounters] = {};
  counters[schema::COUNTER_TICKS_PER_SECOND] = 2000000000;
  counters[schema::COUNTER_CLOCK_START_TICKS] = 5000;
  EXPECT_DOUBLE_EQ(TickClock(counters).Seconds(2000005000), 1);
  counters[schema::COUNTER_CLOCK_START_MONOTONIC_NS] = 77;
  counters[schema::COUNTER_CLOCK_TICKS] = 5000 + 3000000000;
  counters[schema::COUNTER_CLOCK_MONOTONIC_NS] = 77 + 1000000000;
  EXPECT_DOUBLE_EQ(TickClock(counters).Seconds(3000005000), 1);
  EXPECT_EQ(TickClock(counters).Ns(3000005000), 1000000000u);
  EXPECT_EQ(TickClock(counters).Seconds(0), 0);  // before it started
}

TEST(LoadedModules, AnAddressBelongsToWhatWasThereInItsEpoch) {
  LoadedModules modules;
  const auto add = [&modules](uint32_t id, uint32_t epoch, uint64_t start, uint64_t end) {
    TracedModule module;
    module.id = id;
    module.first_epoch = epoch;
    module.ranges = {{start, end}};
    modules.Add(module);
  };
  add(1, 0, 0x1000, 0x9000);
  add(2, 0, 0x10000, 0x20000);
  add(3, 2, 0x18000, 0x28000);  // where 2 had been
  modules.SetGone(2, 2);
  modules.Freeze();
  EXPECT_EQ(modules.Find(0x1000, 0), 0);
  EXPECT_EQ(modules.Find(0x9000, 0), -1);
  EXPECT_EQ(modules.Find(0x19000, 0), 1);
  EXPECT_EQ(modules.Find(0x19000, 1), 1);
  EXPECT_EQ(modules.Find(0x19000, 2), 2);
  EXPECT_EQ(modules.Find(0x11000, 2), -1);
  EXPECT_EQ(modules.Find(0x27000, 1), 2);  // defined a moment after the stack was captured
}

TEST(TracedStacks, TheSameFramesInTheSameModulesAreOneStack) {
  LoadedModules modules;
  TracedModule old_one, new_one;
  old_one.id = 1;
  old_one.ranges = new_one.ranges = {{0x1000, 0x2000}};
  new_one.id = 2;
  new_one.first_epoch = 1;
  modules.Add(old_one);
  modules.Add(new_one);
  modules.SetGone(1, 1);
  modules.Freeze();
  TracedStacks stacks;
  const uint64_t inside[] = {0x1100, 0x9000}, outside[] = {0x8000, 0x9000};
  stacks.Define(10, inside, 2, 0, false);
  stacks.Define(11, inside, 2, 0, false);
  stacks.Define(12, inside, 2, 1, false);  // another library by now
  stacks.Define(13, outside, 2, 0, false);
  stacks.Define(14, outside, 2, 1, false);
  stacks.Define(15, outside, 1, 0, false);
  stacks.Define(16, outside, 0, 0, false);
  stacks.Freeze(modules, TracedCodes());
  EXPECT_EQ(stacks.Distinct(10), stacks.Distinct(11));
  EXPECT_NE(stacks.Distinct(10), stacks.Distinct(12));
  EXPECT_EQ(stacks.Distinct(13), stacks.Distinct(14));
  EXPECT_NE(stacks.Distinct(13), stacks.Distinct(15));
  EXPECT_EQ(stacks.Distinct(16), kEmptyStack);
  EXPECT_EQ(stacks.Distinct(99), kEmptyStack);
  EXPECT_EQ(stacks.Get(stacks.Distinct(15)).native.count, 1u);
}

TEST(Definitions, StacksAreWholeThoughTheyAreWrittenAsDifferences) {
  TraceBuilder builder;
  const std::vector<uint64_t> stacks[] = {{1, 2, 3, 4, 5}, {9, 3, 4, 5}, {9, 3, 4, 5}, {3, 4, 5}, {7}, {}};
  for (uint32_t i = 0; i < 6; ++i) builder.DefineStack(0, i + 1, stacks[i]);
  const std::unique_ptr<Trace> trace = ReadTrace(builder.Finish());
  const TracedStacks& read = trace->definitions().stacks;
  for (uint32_t i = 0; i < 6; ++i) {
    const StackRef stack = read.Get(read.Distinct(i + 1)).native;
    EXPECT_EQ(std::vector<uint64_t>(stack.frames, stack.frames + stack.count), stacks[i]);
  }
}

}  // namespace
}  // namespace vramtrack
