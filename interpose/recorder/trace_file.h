// SPDX-License-Identifier: Apache-2.0
//
// The file of this process: a header page and journals that are mapped, and sealed frames that are appended between
// them. At every instant the file holds all that was recorded; see docs/format.md.
//
// A file of bounded size (max_bytes) holds two generations of blocks. When the newer one has taken its half of the
// room, the older one's is used again; what its blocks said is in the checkpoint with which the newer one begins.
#ifndef INTERPOSE_RECORDER_TRACE_FILE_H_
#define INTERPOSE_RECORDER_TRACE_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/base/growing_array.h"
#include "interpose/base/spin_lock.h"
#include "interpose/base/system_call.h"
#include "interpose/recorder/file_space.h"
#include "interpose/recorder/folded_past.h"
#include "proto/block_encoder.h"
#include "proto/frame.h"

namespace vramtrack {

// Thread-safe. Lives in zeroed memory that is never freed: other threads may still be in a hook when the process ends.
class TraceFile {
 private:
  // The trailer takes a granule, the rest of which is padding.
  static constexpr size_t kTrailerRoom = FileSpace::kGranuleBytes;
  static_assert(kTrailerBytes + kPaddingPrefixBytes <= kTrailerRoom, "the padding's prefix");
  // With less a generation would be a few blocks.
  static constexpr uint64_t kMinGenerationBytes = 32 << 10;

 public:
  // The least that a file of bounded size is of use with: one thread's journal and two generations.
  static constexpr uint64_t kLeastMaxBytes = kHeaderBytes + kTrailerRoom + kMaxJournalBytes + 2 * kMinGenerationBytes;

  // Creates the file. 0 or -errno; the errors of a file that exists already leave it alone (-EEXIST). `max_bytes`:
  // UINT64_MAX for a file that grows with what is recorded.
  int Create(const char* path, uint64_t max_bytes);
  // Removes the file again, which nothing was recorded in; what is mapped of it stays.
  void Discard();
  // Whether blocks have a generation.
  bool bounded() const { return bounded_ != nullptr; }

  // Appends a sealed Block, whose generation is filled in if there is one. False once recording has stopped.
  bool AppendBlock(uint8_t* frame, size_t bytes, const JournalView& view, const BlockSummary& summary);

  // Appends sealed Activities, whose generation is filled in if there is one. False, with the records counted as
  // unwritten, where they have no room or recording has stopped.
  bool AppendActivities(uint8_t* frame, size_t bytes, uint64_t records);

  // The thread will record nothing more.
  void EndThread(uint32_t thread);

  // A new journal, mapped: kMaxJournalBytes whose words begin at kJournalWordsOffset. Null where there is no room.
  uint64_t* NewJournal();

  // Writes what is left of the index and the Trailer. Events may still be recorded afterwards, by this thread or by
  // `other_threads`, and stock protobuf reads the file even where the process ends while one of them writes.
  void Finish(uint64_t end_ticks, size_t other_threads);

  // Ends recording: what is in the file stays. Only the first reason counts.
  void Stop(schema::StopReason reason);
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

  // After STOP_FILE_TAKEN: why the file could not be opened again by its name, as -errno; 0: the name is another
  // file's.
  int reopen_error() const { return reopen_error_; }

  // Whether somebody has removed the file while it was written: it goes with the process.
  bool removed();

  // A counter of the header page. Never null after Create.
  std::atomic<uint64_t>* counter(schema::Counter which) { return &counters_[which]; }
  const char* path() const { return path_; }

 private:
  struct IndexEntry {
    uint64_t offset, first_sequence, first_time, last_time;
    uint32_t length, thread, events, definitions;
  };
  static constexpr size_t kIndexEntries = 1024;
  static constexpr size_t kPathBytes = 4096;

  // What only a file of bounded size has, in memory of its own.
  struct Bounded {
    FoldedPast past;
    uint32_t generation;
    uint64_t generation_bytes, activity_bytes, journal_bytes;
    uint64_t pairs_at_checkpoint;  // folded when this generation began
    GrowingArray<uint8_t> checkpoint;
    uint8_t part[(32 << 10) + FileSpace::kGranuleBytes];
  };

  // All with the lock held.
  bool Append(const void* data, size_t bytes);
  bool Write(const void* data, size_t bytes, uint64_t offset);
  bool Room(uint64_t bytes);
  uint64_t Cap() const;
  int AllocateRoom(uint64_t offset, uint64_t bytes);
  bool OwnDescriptor();
  bool OpenAgain();
  bool IsOurs(int fd);
  bool HoldsWhatIsMapped(int fd);
  void WriteIndex();
  uint64_t* MapJournal(uint64_t start);
  void StopFor(int error);

  // Of a file of bounded size, in bounded_trace_file.cc; lock held.
  int BeginBounded();
  bool AppendBounded(uint8_t* frame, size_t bytes, const JournalView& view, const BlockSummary& summary);
  bool AppendBoundedActivities(uint8_t* frame, size_t bytes);
  uint64_t* NewBoundedJournal();
  bool WriteBoundedTrailer(const uint8_t* trailer);
  uint64_t GenerationBytes() const;
  bool BeginGeneration();
  bool GiveUpGeneration(int tries);
  bool EncodeCheckpoint();
  bool WriteCheckpoint();
  bool PlaceInGeneration(const uint8_t* frame, size_t bytes);

  // Of room that the file has already, in trace_file_space.cc; lock held.
  static uint64_t PlaceBytes(uint64_t bytes);  // what a frame takes, padding to the next multiple included
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
  FileIdentity identity_;
  uint64_t end_, max_bytes_, events_, last_index_;
  size_t index_entries_;
  bool finished_;
  std::atomic<bool> stopped_;
  std::atomic<uint64_t>* counters_;
  Bounded* bounded_;
  FileSpace* space_;  // null where frames are appended only
  IndexEntry index_[kIndexEntries];
  uint8_t index_frame_[kIndexEntries * 64];
  char path_[kPathBytes];
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_TRACE_FILE_H_
