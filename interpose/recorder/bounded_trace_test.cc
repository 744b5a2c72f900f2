// SPDX-License-Identifier: Apache-2.0
//
// Compares a file of bounded size with an unbounded one of the same events: the sums of each site and the live
// allocations agree, and the file is valid whenever it is read.
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <random>
#include <sstream>
#include <tuple>
#include <vector>

#include "analyzer/base/indices.h"
#include "analyzer/findings/core/step_plan.h"
#include "analyzer/ingest/event_stream.h"
#include "analyzer/ingest/trace.h"
#include "analyzer/ledger/ledger.h"
#include "analyzer/peaks/failure_log.h"
#include "interpose/recorder/event_writer.h"
#include "interpose/recorder/file_space.h"
#include "proto/testing/holder_walk_builder.h"
#include "proto/trace.pb.h"

namespace vramtrack {
namespace {

constexpr uint64_t kCap = 1 << 20;
constexpr int kWriters = 4;
constexpr size_t kMostLive = 1500;

template <typename T>
T* Zeroed() {
  return static_cast<T*>(MapPrivate(sizeof(T)));
}

// One trace with several writers.
class Recording {
 public:
  Recording(const std::string& name, uint64_t max_bytes) : file_(Zeroed<TraceFile>()) {
    const char* folder = getenv("TEST_TMPDIR");
    path_ = std::string(folder != nullptr ? folder : "/tmp") + "/" + name + ".vtrace";
    unlink(path_.c_str());
    EXPECT_EQ(file_->Create(path_.c_str(), max_bytes), 0);
    for (uint32_t i = 0; i < kWriters; ++i) {
      lanes_.push_back(Zeroed<EventWriter>());
      lanes_.back()->Attach(file_, file_->NewJournal(), i);
    }
  }
  EventWriter& writer(size_t i) { return *lanes_[i]; }
  TraceFile& file() { return *file_; }
  const std::string& path() const { return path_; }

  void Finish() {
    for (EventWriter* writer : lanes_) EXPECT_TRUE(writer->Seal());
    file_->Finish(Clock::Ticks(), 0);
  }
  std::string Bytes() const {
    std::ifstream in(path_, std::ios::binary);
    std::stringstream content;
    content << in.rdbuf();
    return content.str();
  }

 private:
  TraceFile* file_;
  std::vector<EventWriter*> lanes_;
  std::string path_;
};

struct Live {
  uint32_t thread, device;
  uint64_t ordinal;
  schema::Kind kind;
};

// Everything that a process may record, on all writers; `each` is called for both traces.
class Job {
 public:
  Job(uint64_t seed, Recording* one, Recording* other) : random_(seed), recordings_{one, other} {}

  void Do(int events) {
    for (int i = 0; i < events; ++i) DoOne();
  }
  size_t live() const { return live_.size(); }

 private:
  uint64_t Below(uint64_t n) { return random_() % n; }

  template <typename OnWriter>
  void Both(size_t writer, OnWriter on_writer) {
    for (Recording* recording : recordings_) on_writer(&recording->writer(writer));
  }

  void Allocate(size_t writer) {
    constexpr schema::Kind kKinds[] = {schema::DEVICE, schema::PINNED, schema::STREAM, schema::STREAM_ORDERED};
    const schema::Kind kind = kKinds[Below(4)];
    const auto device = static_cast<uint32_t>(Below(2)), stack = static_cast<uint32_t>(1 + Below(12));
    const uint64_t bytes = kind == schema::STREAM ? 0 : 512 * (1 + Below(9)),
                   address = 0x7f0000000000 + (next_++ << 12);
    live_.push_back({static_cast<uint32_t>(writer), device, recordings_[0]->writer(writer).next_allocation(), kind});
    Both(writer, [&](EventWriter* on) {
      on->Allocation(kind, device, stack, address, bytes, kind == schema::STREAM_ORDERED ? 77 : 0);
    });
  }

  void Free(size_t writer, bool fails) {
    const size_t victim = Below(live_.size());
    const Live live = live_[victim];
    Both(writer, [&](EventWriter* on) {
      on->Event(schema::FREE, live.kind, live.device, 0, live.thread, live.ordinal);
      if (fails) on->Event(schema::FREE_FAILED, 0, 0, 0, 0, uint64_t{1});
    });
    if (fails) return;
    live_[victim] = live_.back();
    live_.pop_back();
  }

  void Reset(size_t writer) {
    const auto device = static_cast<uint32_t>(Below(2));
    Both(writer, [&](EventWriter* on) { on->DeviceReset(device); });
    std::vector<Live> kept;
    for (const Live& live : live_) {
      if (live.device != device) kept.push_back(live);
    }
    live_ = kept;
  }

  void DoOne() {
    const size_t writer = Below(8) == 0 ? kWriters - 1 : Below(kWriters - 1);  // one of them is slow
    const uint64_t dice = Below(100000);
    if (dice < 60) return Reset(writer);
    if (dice < 300)
      return Both(writer,
                  [](EventWriter* on) { on->Event(schema::FREE_UNKNOWN, schema::DEVICE, 0, 0, 0, uint64_t{5}); });
    if (dice < 600) {
      return Both(writer, [](EventWriter* on) {
        on->Event(schema::FAIL, schema::DEVICE, 0, 0, 3, uint64_t{2}, uint64_t{1} << 40);
      });
    }
    if (dice < 800) {
      return Both(writer, [](EventWriter* on) {
        on->Event(schema::MEMORY_INFO, 0, 0, 0, 0, uint64_t{1} << 30, uint64_t{1} << 34);
      });
    }
    if (dice < 1200) {
      const uint64_t name = 1 + Below(3), number = next_mark_++;
      const auto kind = static_cast<uint32_t>(schema::MARK_RECORD_FUNCTION + Below(3));
      const auto stack = static_cast<uint32_t>(1 + Below(3));
      return Both(writer % 2, [=](EventWriter* on) { on->Event(schema::MARK, kind, 0, 0, stack, name, number); });
    }
    if (dice < 1300) {
      const uint64_t bytes = Below(1 << 30);
      return Both(0, [=](EventWriter* on) { on->Event(schema::FRAMEWORK_MEMORY, 0, 1, 0, 0, bytes, 2 * bytes); });
    }
    if (dice < 1900) {
      ++steps_;
      return Both(0, [this](EventWriter* on) { on->Event(schema::STEP, 0, 0, 0, 0, steps_, uint64_t{0}); });
    }
    if (!live_.empty() && dice < 3000) return Free(writer, /*fails=*/true);
    if (live_.size() < kMostLive && dice % 2 == 0) return Allocate(writer);
    if (!live_.empty()) Free(writer, /*fails=*/false);
  }

  std::mt19937_64 random_;
  std::vector<Recording*> recordings_;
  std::vector<Live> live_;
  uint64_t next_ = 0, steps_ = 0, next_mark_ = 1;
};

using SiteFigures = std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>;

struct Figures {
  std::map<std::tuple<uint32_t, DeviceIndex, StackIndex>, SiteFigures> sites;
  std::map<std::tuple<uint32_t, uint32_t, StackIndex, uint64_t>, uint64_t> marks;  // by thread, kind, stack and name
  uint64_t framework_given_out = 0, framework_reserved = 0;                        // told last
  uint64_t events = 0, lost_events = 0, live_objects = 0, unknown_frees = 0, out_of_memory = 0, steps = 0, limits = 0;
};

Figures FiguresOf(const std::string& path) {
  Figures figures;
  auto trace = Trace::Open(path);
  EXPECT_TRUE(trace.ok()) << trace.status();
  if (!trace.ok()) return figures;
  EXPECT_TRUE((*trace)->damage().empty());
  EXPECT_TRUE((*trace)->finished());
  FailureLog failures(**trace);
  LedgerOptions options;
  options.observers = {&failures};
  Ledger ledger(**trace, PlanSteps(**trace), options);
  ledger.Replay();
  for (const Site& site : ledger.sites()) {
    figures.sites[{site.key.kind, site.key.device, site.key.stack}] = {
        site.allocations, site.frees, site.bytes_allocated, site.live_objects, site.live_bytes};
  }
  EventStream stream(**trace);
  for (StreamEvent event; stream.Next(&event);) {
    figures.limits += event.operation == schema::LIMIT;
    if (event.operation == schema::MARK) {
      const StackIndex stack = (*trace)->definitions().stacks.Distinct(event.shape->ref);
      ++figures.marks[{(*trace)->threads()[event.slot].thread, event.shape->kind, stack, event.value[0]}];
    }
    if (event.operation == schema::FRAMEWORK_MEMORY) {
      EXPECT_EQ(event.shape->device, 1u);
      figures.framework_given_out = event.value[0];
      figures.framework_reserved = event.value[1];
    }
  }
  figures.events = (*trace)->events();
  figures.lost_events = (*trace)->lost_events() + ledger.unreadable_events();
  figures.live_objects = ledger.live_objects();
  figures.unknown_frees = ledger.unknown_frees();
  figures.out_of_memory = failures.count();
  figures.steps = ledger.steps().step();
  return figures;
}

TEST(BoundedTraceTest, TellsTheSameAsAFullTrace) {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    SCOPED_TRACE(seed);
    Recording full("full", UINT64_MAX), bounded("bounded", kCap);
    for (Recording* recording : {&full, &bounded}) {
      for (uint32_t stack = 1; stack <= 12; ++stack) {
        const uint64_t frames[] = {0x400000 + stack, 0x500000};
        ASSERT_TRUE(recording->writer(stack % kWriters).DefineStack(stack, 0, false, frames, 2));
      }
    }
    for (Recording* recording : {&full, &bounded}) {
      recording->writer(1).Event(schema::LIMIT, 0, 0, 0, 3, uint64_t{2}, uint64_t{8} << 20);
    }
    Job job(seed, &full, &bounded);
    for (int i = 0; i < 10; ++i) {
      job.Do(60000);
      const std::string bytes = bounded.Bytes();
      EXPECT_LE(bytes.size(), kCap);
      TraceLayout layout;
      ASSERT_EQ(ScanTrace(bytes, &layout), "");
      EXPECT_TRUE(layout.damage.empty()) << layout.damage[0].offset << ": " << layout.damage[0].reason;
      format::Trace stock;
      EXPECT_TRUE(stock.ParseFromString(bytes)) << "stock protobuf reads it";
    }
    EXPECT_EQ(bounded.file().counter(schema::COUNTER_STOP_REASON)->load(), schema::STOP_NONE);
    EXPECT_GE(bounded.file().counter(schema::COUNTER_BASE_GENERATION)->load(), 3u);
    full.Finish();
    bounded.Finish();
    EXPECT_LE(bounded.Bytes().size(), kCap);
    const Figures expected = FiguresOf(full.path()), figures = FiguresOf(bounded.path());
    EXPECT_EQ(figures.sites, expected.sites);
    EXPECT_EQ(figures.events, expected.events);
    EXPECT_EQ(figures.lost_events, 0u);
    EXPECT_EQ(figures.live_objects, expected.live_objects);
    EXPECT_EQ(figures.live_objects, job.live());
    EXPECT_EQ(figures.unknown_frees, expected.unknown_frees);
    EXPECT_EQ(figures.out_of_memory, expected.out_of_memory);
    EXPECT_EQ(figures.steps, expected.steps);
    EXPECT_EQ(figures.marks, expected.marks);
    EXPECT_GT(expected.marks.size(), 40u);
    EXPECT_EQ(figures.framework_given_out, expected.framework_given_out);
    EXPECT_EQ(figures.framework_reserved, 2 * expected.framework_given_out);
    EXPECT_EQ(figures.limits, 1u) << "what was set long ago is known";
  }
}

TEST(BoundedTraceTest, ThreadsThatComeWhenTheFileIsFullGetTheirJournals) {
  Recording recording("late_threads", 2 << 20);
  const auto pairs = [](EventWriter* writer, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t ordinal = writer->next_allocation();
      ASSERT_TRUE(writer->Allocation(schema::DEVICE, 0, 1, 0x1000, 512, 0));
      ASSERT_TRUE(writer->Event(schema::FREE, schema::DEVICE, 0, 0, writer->thread(), ordinal));
    }
  };
  pairs(&recording.writer(0), 400000);
  EXPECT_GE(recording.file().counter(schema::COUNTER_BASE_GENERATION)->load(), 1u);
  std::vector<EventWriter*> late;
  for (uint32_t i = 0; i < 6; ++i) {
    late.push_back(Zeroed<EventWriter>());
    uint64_t* journal = recording.file().NewJournal();
    ASSERT_NE(journal, nullptr);
    late.back()->Attach(&recording.file(), journal, kWriters + i);
    pairs(late.back(), 30000);
  }
  for (EventWriter* writer : late) EXPECT_TRUE(writer->Seal());
  recording.Finish();
  const std::string bytes = recording.Bytes();
  EXPECT_LE(bytes.size(), size_t{2} << 20);
  TraceLayout layout;
  ASSERT_EQ(ScanTrace(bytes, &layout), "");
  EXPECT_TRUE(layout.damage.empty());
  EXPECT_EQ(layout.journals.size(), kWriters + 6u);
  EXPECT_EQ(FiguresOf(recording.path()).events, 2 * (400000u + 6 * 30000u));
}

// Journals stay where they are, and what is written between them must leave room for others.
TEST(BoundedTraceTest, ThreadsThatComeAtAnyTimeGetTheirJournals) {
  constexpr uint32_t kThreads = 17;
  for (uint64_t pairs_of_each = 4000; pairs_of_each <= 76000; pairs_of_each += 8000) {
    SCOPED_TRACE(pairs_of_each);
    Recording recording("any_time", 3 << 20);
    std::vector<EventWriter*> writers;
    for (size_t i = 0; i < kWriters; ++i) writers.push_back(&recording.writer(i));
    uint64_t pairs = 0;
    while (writers.size() < kThreads) {
      for (uint64_t i = 0; i < pairs_of_each; ++i, ++pairs) {
        EventWriter* writer = writers.back();
        const uint64_t ordinal = writer->next_allocation();
        ASSERT_TRUE(writer->Allocation(schema::DEVICE, 0, 1, 0x1000, 512, 0));
        ASSERT_TRUE(writer->Event(schema::FREE, schema::DEVICE, 0, 0, writer->thread(), ordinal));
      }
      uint64_t* journal = recording.file().NewJournal();
      ASSERT_NE(journal, nullptr) << writers.size();
      writers.push_back(Zeroed<EventWriter>());
      writers.back()->Attach(&recording.file(), journal, static_cast<uint32_t>(writers.size() - 1));
    }
    for (size_t i = kWriters; i < writers.size(); ++i) ASSERT_TRUE(writers[i]->Seal());
    recording.Finish();
    EXPECT_LE(recording.Bytes().size(), size_t{3} << 20);
    EXPECT_EQ(FiguresOf(recording.path()).events, 2 * pairs);
  }
}

// Walks are as valid in the last generation as in their own; older ones make room.
TEST(BoundedTraceTest, KeepsTheLastTwoWalks) {
  Recording bounded("walks", kCap), other("walks_other", UINT64_MAX);
  Job job(5, &bounded, &other);
  constexpr uint32_t kWalks = 40, kParts = 3;
  for (uint32_t walk = 1; walk <= kWalks; ++walk) {
    job.Do(4000);
    for (uint32_t part = 0; part < kParts; ++part) {
      HolderWalkBuilder builder(walk, schema::HOLDERS_AT_REQUEST, Clock::Ticks(), Clock::Ticks());
      builder.SetPart(part, part + 1 == kParts);
      builder.SetGeneration(1);
      for (uint64_t i = 0; i < 300; ++i) builder.Block(4096 * (i + 1), 0);
      std::string frame = builder.Frame();
      ASSERT_TRUE(bounded.file().AppendHolderWalk(reinterpret_cast<uint8_t*>(frame.data()), frame.size(), part == 0));
    }
  }
  job.Do(100000);
  EXPECT_GT(bounded.file().counter(schema::COUNTER_BASE_GENERATION)->load(), 1u);
  bounded.Finish();
  other.Finish();
  format::Trace trace;
  ASSERT_TRUE(trace.ParseFromString(bounded.Bytes()));
  std::map<uint32_t, uint32_t> parts;
  for (const format::HolderWalk& walk : trace.holder_walks()) ++parts[walk.walk()];
  EXPECT_EQ(parts, (std::map<uint32_t, uint32_t>{{kWalks - 1, kParts}, {kWalks, kParts}}));
  EXPECT_LE(bounded.Bytes().size(), kCap);
  // One that is larger than its share does not take the room of events.
  std::string large(kCap / 4, '\0');
  EXPECT_FALSE(bounded.file().AppendHolderWalk(reinterpret_cast<uint8_t*>(large.data()), large.size(), true));
  EXPECT_FALSE(bounded.file().stopped());
}

TEST(FileSpaceTest, NothingIsGivenOutTwiceAndAllOfItComesBack) {
  std::mt19937_64 random(3);
  auto* space = Zeroed<FileSpace>();
  constexpr uint64_t kGranules = 4000, kGranule = FileSpace::kGranuleBytes;
  std::vector<uint32_t> owner(kGranules, 0);  // 0: free
  space->Add(0, kGranules * kGranule);
  uint32_t generation = 1;
  for (int i = 0; i < 20000; ++i) {
    const uint64_t bytes = kGranule * (1 + random() % 60);
    uint64_t offset;
    FileSpace::Range rest;
    if (space->Take(bytes, generation, &offset, &rest)) {
      ASSERT_EQ(rest.begin, offset + bytes);
      for (uint64_t g = offset / kGranule; g < (offset + bytes) / kGranule; ++g) {
        ASSERT_EQ(owner[g], 0u);
        owner[g] = generation;
      }
      for (uint64_t g = rest.begin / kGranule; g < rest.end / kGranule; ++g) ASSERT_EQ(owner[g], 0u);
      continue;
    }
    for (uint32_t& of : owner) of = of == generation - 1 ? 0 : of;
    space->Release(generation - 1, [&](const FileSpace::Range& range) {
      ASSERT_LT(range.begin, range.end);
      for (uint64_t g = range.begin / kGranule; g < range.end / kGranule; ++g) ASSERT_EQ(owner[g], 0u);
    });
    ++generation;
  }
  EXPECT_GT(generation, 100u);
  space->Release(generation, [](const FileSpace::Range&) {});
  EXPECT_EQ(space->largest(), kGranules * kGranule);
}

}  // namespace
}  // namespace vramtrack
