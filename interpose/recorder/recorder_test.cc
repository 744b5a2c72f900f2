// SPDX-License-Identifier: Apache-2.0
//
// Tests EventWriter and TraceFile together: the events of a thread can be read at every instant, whatever happens to
// the file.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/ingest/trace.h"
#include "interpose/recorder/event_writer.h"
#include "interpose/recorder/host_readings.h"
#include "proto/block_decoder.h"
#include "proto/block_encoder.h"
#include "proto/frame_scanner.h"
#include "proto/trace.pb.h"

namespace vramtrack {
namespace {

struct ReadBack {
  TraceLayout layout;
  std::string file, error;
  std::map<uint32_t, uint64_t> events;                  // by thread, journals included
  std::map<uint32_t, std::vector<uint64_t>> addresses;  // of allocations
};

void ReadBlock(std::string_view payload, ReadBack* back) {
  BlockDecoder decoder;
  ASSERT_TRUE(decoder.Open(payload));
  DecodedEvent event;
  while (decoder.Next(&event)) {
    ++back->events[decoder.header().thread];
    if (event.shape->operation == schema::ALLOCATE) {
      back->addresses[decoder.header().thread].push_back(event.address);
    }
  }
  ASSERT_STREQ(decoder.error(), "");
}

ReadBack Read(const std::string& path) {
  ReadBack back;
  std::ifstream in(path, std::ios::binary);
  std::stringstream content;
  content << in.rdbuf();
  back.file = content.str();
  back.error = ScanTrace(back.file, &back.layout);
  for (const FrameRef& block : back.layout.blocks) ReadBlock(block.payload, &back);
  for (const FrameRef& journal : back.layout.journals) {
    std::vector<uint64_t> words(journal.payload.size() / 8);
    std::memcpy(words.data(), journal.payload.data(), 8 * words.size());
    if (words[kJournalCommitted] == 0) continue;
    auto encoder = std::make_unique<BlockEncoder>();
    size_t bytes;
    BlockSummary summary;
    const uint8_t* frame =
        encoder->Encode({static_cast<uint32_t>(words[kJournalThread]), words[kJournalFirstSequence],
                         words[kJournalFirstAllocation], words.data() + kJournalHeaderWords, words[kJournalCommitted]},
                        0, &bytes, &summary);
    if (bytes == 0) continue;
    ReadBlock({reinterpret_cast<const char*>(frame) + kSealedPrefixBytes, bytes - kSealedPrefixBytes}, &back);
  }
  return back;
}

template <typename T>
T* Zeroed() {
  return static_cast<T*>(MapPrivate(sizeof(T)));
}

class RecorderTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* folder = getenv("TEST_TMPDIR");
    path_ = std::string(folder != nullptr ? folder : "/tmp") + "/" +
            ::testing::UnitTest::GetInstance()->current_test_info()->name() + ".vtrace";
    unlink(path_.c_str());
    file_ = Zeroed<TraceFile>();
  }

  EventWriter* NewWriter(uint32_t thread) {
    auto* writer = Zeroed<EventWriter>();
    uint64_t* journal = file_->NewJournal();
    if (journal == nullptr) return nullptr;
    writer->Attach(file_, journal, thread);
    return writer;
  }

  static void RecordPairs(EventWriter* writer, uint64_t count, uint64_t from = 0) {
    for (uint64_t i = from; i < from + count; ++i) {
      writer->Allocation(schema::DEVICE, 0, 1, 0x1000 * (i + 1), 512, 0);
      writer->Event(schema::FREE, schema::DEVICE, 0, 0, writer->thread(), i);
    }
  }

  uint64_t Counter(schema::Counter counter) { return file_->counter(counter)->load(); }

  std::string path_;
  TraceFile* file_;
};

TEST_F(RecorderTest, EveryEventIsInTheFileAtOnce) {
  ASSERT_EQ(file_->Create(path_.c_str(), UINT64_MAX), 0);
  EventWriter* writer = NewWriter(3);
  for (uint64_t i = 0; i < 6000; ++i) {  // through a sealed block and into the next journal
    writer->Allocation(schema::DEVICE, 0, 1, 0x1000 * (i + 1), 512, 0);
    if (i % 617 != 0) continue;
    const ReadBack back = Read(path_);
    ASSERT_EQ(back.error, "");
    ASSERT_EQ(back.events.at(3), i + 1);
    ASSERT_EQ(back.addresses.at(3).back(), 0x1000 * (i + 1));
    ASSERT_TRUE(back.layout.damage.empty());
    ASSERT_FALSE(back.layout.finished);
  }
}

TEST_F(RecorderTest, AFinishedFileHasEverythingInBlocks) {
  ASSERT_EQ(file_->Create(path_.c_str(), UINT64_MAX), 0);
  EventWriter* a = NewWriter(0);
  EventWriter* b = NewWriter(1);
  RecordPairs(a, 5000);
  RecordPairs(b, 10);
  RecordPairs(a, 7, 5000);
  ASSERT_TRUE(a->Seal());
  ASSERT_TRUE(b->Seal());
  file_->Finish(Clock::Ticks(), 0);
  const ReadBack back = Read(path_);
  EXPECT_TRUE(back.layout.finished);
  EXPECT_TRUE(back.layout.damage.empty());
  EXPECT_EQ(back.events.at(0), 10014u);
  EXPECT_EQ(back.events.at(1), 20u);
  EXPECT_EQ(Counter(schema::COUNTER_FINISHED), 1u);
  EXPECT_EQ(Counter(schema::COUNTER_LOST_EVENTS), 0u);
}

// A write of several pages that the end of the process meets is stopped halfway.
TEST_F(RecorderTest, AFinishedFileIsWholeThoughThreadsRecordUntilTheProcessEnds) {
  // Under a sanitizer each takes seconds.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(8);
  for (int run = 0; run < 300 && std::chrono::steady_clock::now() < end; ++run) {
    unlink(path_.c_str());
    const pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (file_->Create(path_.c_str(), UINT64_MAX) != 0) _exit(1);
      constexpr uint32_t kThreads = 4;
      for (uint32_t thread = 0; thread < kThreads; ++thread) {
        EventWriter* writer = NewWriter(thread);
        if (writer == nullptr) _exit(1);
        std::thread([writer] {
          for (uint64_t i = 0;; i += 16) RecordPairs(writer, 16, i);
        }).detach();
      }
      usleep(1000);
      file_->Finish(Clock::Ticks(), kThreads);
      usleep(static_cast<useconds_t>(run * 7 % 500));
      _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_EQ(status, 0);
    const ReadBack back = Read(path_);
    ASSERT_EQ(back.error, "");
    ASSERT_TRUE(back.layout.finished);
    EXPECT_TRUE(back.layout.damage.empty()) << "run " << run;
    format::Trace trace;
    ASSERT_TRUE(trace.ParseFromString(back.file)) << "run " << run;
  }
}

TEST_F(RecorderTest, AWriterServesOneThreadAfterTheOther) {
  ASSERT_EQ(file_->Create(path_.c_str(), UINT64_MAX), 0);
  EventWriter* writer = NewWriter(0);
  uint64_t* journal = writer->journal();
  RecordPairs(writer, 100);
  ASSERT_TRUE(writer->Seal());
  writer->Attach(file_, journal, 1);
  RecordPairs(writer, 50);
  const ReadBack back = Read(path_);
  EXPECT_EQ(back.events.at(0), 200u);
  EXPECT_EQ(back.events.at(1), 100u);
}

TEST_F(RecorderTest, WhenWhatIsLiveNeedsMoreThanTheSizeCapRecordingStopsAndTheRestIsCounted) {
  constexpr uint64_t kCap = 512 * 1024;
  ASSERT_EQ(file_->Create(path_.c_str(), kCap), 0);
  EventWriter* writer = NewWriter(0);
  constexpr uint64_t kAllocations = 200000;
  for (uint64_t i = 0; i < kAllocations; ++i) writer->Allocation(schema::DEVICE, 0, 1, 0x1000 * (i + 1), 512, 0);
  EXPECT_TRUE(file_->stopped());
  EXPECT_EQ(Counter(schema::COUNTER_STOP_REASON), schema::STOP_SIZE_CAP);
  auto trace = Trace::Open(path_);
  ASSERT_TRUE(trace.ok()) << trace.status();
  EXPECT_LE((*trace)->file_bytes(), kCap);
  EXPECT_TRUE((*trace)->damage().empty());
  EXPECT_EQ((*trace)->events() + Counter(schema::COUNTER_LOST_EVENTS), kAllocations);
  EXPECT_GT((*trace)->events(), 20000u);
}

TEST_F(RecorderTest, TheLimitOnFileSizesRaisesNoSignal) {
  ASSERT_EQ(file_->Create(path_.c_str(), UINT64_MAX), 0);
  EventWriter* writer = NewWriter(0);
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit low = {300 * 1024, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &low);
  RecordPairs(writer, 200000);  // SIGXFSZ would end the test
  setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(Counter(schema::COUNTER_STOP_REASON), schema::STOP_SIZE_CAP);
  EXPECT_GT(Counter(schema::COUNTER_LOST_EVENTS), 0u);
}

TEST_F(RecorderTest, AFileThatTheProgramClosedIsOpenedAgain) {
  ASSERT_EQ(file_->Create(path_.c_str(), UINT64_MAX), 0);
  EventWriter* writer = NewWriter(0);
  const std::string other = path_ + ".other";
  std::vector<int> taken;
  for (int fd = 3; fd < 2000; ++fd) close(fd);
  for (int i = 0; i < 1000; ++i) taken.push_back(open(other.c_str(), O_RDWR | O_CREAT, 0600));
  RecordPairs(writer, 20000);
  ASSERT_TRUE(writer->Seal());
  struct stat status;
  ASSERT_EQ(stat(other.c_str(), &status), 0);
  EXPECT_EQ(status.st_size, 0) << "the program's own file was written";
  EXPECT_EQ(Read(path_).events.at(0), 40000u);
  for (int fd : taken) close(fd);
}

TEST_F(RecorderTest, AFileThatIsGoneEndsRecording) {
  ASSERT_EQ(file_->Create(path_.c_str(), UINT64_MAX), 0);
  EventWriter* writer = NewWriter(0);
  unlink(path_.c_str());
  for (int fd = 3; fd < 2000; ++fd) close(fd);
  RecordPairs(writer, 20000);
  EXPECT_EQ(Counter(schema::COUNTER_STOP_REASON), schema::STOP_FILE_TAKEN);
}

TEST_F(RecorderTest, AnExistingFileIsNotTouched) {
  std::ofstream(path_) << "precious";
  EXPECT_EQ(file_->Create(path_.c_str(), UINT64_MAX), -EEXIST);
  std::ifstream in(path_);
  std::string content;
  in >> content;
  EXPECT_EQ(content, "precious");
}

TEST_F(RecorderTest, AStackIsDefinedBeforeTheEventsThatNameIt) {
  ASSERT_EQ(file_->Create(path_.c_str(), UINT64_MAX), 0);
  EventWriter* writer = NewWriter(0);
  std::vector<uint64_t> frames(256, 0x400000);
  for (uint32_t id = 1; id < 200; ++id) {
    frames[0] = 0x500000 + id;
    ASSERT_TRUE(writer->DefineStack(id, 0, false, frames.data(), frames.size()));
    writer->Allocation(schema::DEVICE, 0, id, 0x1000 * id, 512, 0);
  }
  const ReadBack back = Read(path_);
  EXPECT_GT(back.layout.blocks.size(), 1u);  // long definitions fill journals, too
  EXPECT_EQ(back.events.at(0), 199u);
}

// Of a run of any length, enough for its steps and not too many for a trace.
TEST(HostReadings, AreDueEverMoreRarely) {
  constexpr uint64_t kTicksPerSecond = 1000000000, kMark = kTicksPerSecond / 200;
  HostReadings readings = {};
  uint64_t taken = 0, of_first_second = 0, latest = 0, longest = 0;
  for (uint64_t ticks = kTicksPerSecond; ticks < 36000 * kTicksPerSecond; ticks += kMark) {
    if (!readings.IsDue(ticks, kTicksPerSecond)) continue;
    of_first_second += ticks < 2 * kTicksPerSecond;
    if (latest != 0) longest = std::max(longest, ticks - latest);
    latest = ticks;
    ++taken;
  }
  EXPECT_EQ(of_first_second, 100u);
  EXPECT_GT(taken, 5000u);
  EXPECT_LT(taken, 12000u);
  EXPECT_LT(longest, 40 * kTicksPerSecond);  // a thousandth of ten hours
  readings.GiveUp();
  EXPECT_FALSE(readings.IsDue(40000 * kTicksPerSecond, kTicksPerSecond));
}

TEST(HostReadings, TheKernelsFileIsRead) {
  HostMemory memory;
  ASSERT_TRUE(ReadHostMemory(&memory));
  EXPECT_GT(memory.resident, uint64_t{1} << 20);
  EXPECT_GT(memory.resident, memory.shared);
  const std::string text = "90000 1200 300 4 0 500 0\n";
  ASSERT_TRUE(ParseHostMemory(text.data(), text.size(), 4096, &memory));
  EXPECT_EQ(memory.resident, 1200u * 4096);
  EXPECT_EQ(memory.shared, 300u * 4096);
  for (const std::string bad : {"", "90000", "90000 1200", "90000 1200 300", "a b c d", "90000 1200 x"}) {
    EXPECT_FALSE(ParseHostMemory(bad.data(), bad.size(), 4096, &memory)) << bad;
  }
}

}  // namespace
}  // namespace vramtrack
