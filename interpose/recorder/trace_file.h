// SPDX-License-Identifier: Apache-2.0
//
// The trace file of this process: a header page and memory-mapped journals, with sealed frames appended between them.
// At every instant the file holds everything that was recorded; see docs/internals/format.md.
//
// A file of bounded size (max_bytes) holds two generations of blocks. When the newer generation has used its half of
// the space, the space of the older one is reused. The checkpoint at the beginning of the newer generation holds what
// the blocks of the older one recorded.
#ifndef INTERPOSE_RECORDER_TRACE_FILE_H_
#define INTERPOSE_RECORDER_TRACE_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/growing_array.h"
#include "interpose/base/spin_lock.h"
#include "interpose/base/system_call.h"
#include "interpose/recorder/evicted_history.h"
#include "interpose/recorder/file_space.h"
#include "interpose/recorder/host_readings.h"
#include "proto/block_encoder.h"
#include "proto/frame.h"

namespace vramtrack {

// Thread-safe. Uses zeroed memory that is never freed, because other threads may still be in a hook when the process
// ends.
class TraceFile {
 private:
  // The trailer uses one granule, the rest of which is padding.
  static constexpr size_t kTrailerRoom = FileSpace::kGranuleBytes;
  static_assert(kTrailerBytes + kPaddingPrefixBytes <= kTrailerRoom, "the padding's prefix");
  // A smaller generation would hold only a few blocks.
  static constexpr uint64_t kMinGenerationBytes = 32 << 10;

 public:
  // The smallest useful size of a bounded file: the journal of one thread and two generations.
  static constexpr uint64_t kLeastMaxBytes = kHeaderBytes + kTrailerRoom + kMaxJournalBytes + 2 * kMinGenerationBytes;

  // Creates the file. Returns 0 or -errno; an existing file is left unchanged (-EEXIST). With `max_bytes` UINT64_MAX
  // the file grows without a limit.
  int Create(const char* path, uint64_t max_bytes);
  // Removes the file, in which nothing was recorded. Its mapped parts stay mapped.
  void Discard();
  // Returns whether the file has a bounded size, that is, whether its blocks have a generation.
  bool bounded() const { return bounded_ != nullptr; }

  // Appends a sealed Block, and fills in its generation if the file is bounded. Returns false once recording has
  // stopped.
  bool AppendBlock(uint8_t* frame, size_t bytes, const JournalView& view, const BlockSummary& summary);

  // Appends sealed Activities, and fills in their generation if the file is bounded. Returns false, and counts the
  // records as unwritten, if there is no space or recording has stopped.
  bool AppendActivities(uint8_t* frame, size_t bytes, uint64_t records);

  // Appends a sealed HolderWalk, the next part of a walk or, if `begins`, the first one. A bounded file keeps the last
  // two walks, whatever their age. Returns false if there is no space or recording has stopped.
  bool AppendHolderWalk(uint8_t* frame, size_t bytes, bool begins);

  // Notes that the thread records no further events.
  void EndThread(uint32_t thread);

  // Maps a new journal of kMaxJournalBytes and returns its words, which begin at kJournalWordsOffset of the mapping.
  // Returns null if there is no space.
  uint64_t* NewJournal();

  // Writes the Trailer. This thread and `other_threads` others may still record events
  // afterwards: the file stays readable by standard protobuf even if the process ends while one of them writes.
  void Finish(uint64_t end_ticks, size_t other_threads);

  // Ends recording; the contents of the file are kept. Only the first reason is recorded.
  void Stop(schema::StopReason reason);
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  // Returns whether definitions take so much of a bounded file that no more stacks may be defined. Thread-safe.
  bool crowded() const { return crowded_.load(std::memory_order_relaxed); }

  // After STOP_FILE_TAKEN, returns why the file could not be reopened by its name, as -errno; 0 if the name now refers
  // to another file.
  int reopen_error() const { return reopen_error_; }

  // Returns whether the file was deleted while it was written: its contents are lost when the process ends.
  bool removed();

  // Returns a counter of the header page. Never null after Create.
  std::atomic<uint64_t>* counter(schema::Counter which) { return &counters_[which]; }
  const char* path() const { return path_; }
  // Returns when the host's memory is to be read, for all threads.
  HostReadings* host_readings() { return &host_readings_; }

 private:
  static constexpr size_t kPathBytes = 4096;

  // The state of a file of bounded size, in separate memory.
  struct Bounded {
    EvictedHistory past;
    uint32_t generation;
    uint64_t generation_bytes, activity_bytes, journal_bytes;
    uint64_t definition_bytes;     // of all blocks; checkpoints repeat them
    uint64_t walk_bytes[2];        // of the walks that are kept
    uint32_t walks;                // begun
    uint64_t pairs_at_checkpoint;  // folded pairs when this generation began
    GrowingArray<uint8_t> checkpoint;
    uint8_t part[(32 << 10) + FileSpace::kGranuleBytes];
  };

  // The following are called with the lock held.
  bool Append(const void* data, size_t bytes);
  bool Write(const void* data, size_t bytes, uint64_t offset);
  bool Room(uint64_t bytes);
  uint64_t Cap() const;
  int AllocateRoom(uint64_t offset, uint64_t bytes);
  bool OwnDescriptor();
  bool OpenAgain();
  bool IsOurs(int fd);
  bool HoldsWhatIsMapped(int fd);
  uint64_t* MapJournal(uint64_t start);
  void StopFor(int error);

  // For a file of bounded size, in trace_file_space.cc; called with the lock held.
  int BeginBounded();
  bool AppendBounded(uint8_t* frame, size_t bytes, const JournalView& view, const BlockSummary& summary);
  bool AppendBoundedActivities(uint8_t* frame, size_t bytes);
  bool AppendBoundedWalk(uint8_t* frame, size_t bytes, bool begins);
  uint64_t* NewBoundedJournal();
  uint64_t GenerationBytes() const;
  bool BeginGeneration();
  bool GiveUpGeneration(int tries);
  bool EncodeCheckpoint();
  bool WriteCheckpoint();
  bool PlaceInGeneration(const uint8_t* frame, size_t bytes);

  // For frames in space that the file already contains, in trace_file_space.cc; called with the lock held.
  static uint64_t PlaceBytes(uint64_t bytes);  // the space of a frame, with padding to the next multiple
  bool MakeSpace();
  void MakeTail(size_t threads);
  bool AppendFinished(const uint8_t* frame, size_t bytes);
  bool Place(const uint8_t* frame, size_t bytes, uint32_t generation);
  bool Extend(uint64_t bytes);
  bool ExtendBy(uint64_t bytes);
  bool WritePadding(const FileSpace::Range& range);

  SpinLock lock_;
  int fd_;
  int reopen_error_;
  FileStatus status_;  // of the file when it was identified last
  uint64_t end_, max_bytes_, events_;
  bool finished_;
  std::atomic<bool> stopped_, crowded_;
  HostReadings host_readings_;
  std::atomic<uint64_t>* counters_;
  Bounded* bounded_;
  FileSpace* space_;  // null if frames are only appended
  char path_[kPathBytes];
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_TRACE_FILE_H_
