// SPDX-License-Identifier: Apache-2.0
//
// The file of this process: a header page and journals that are mapped, and sealed frames that are appended between
// them. At every instant the file holds all that was recorded; see docs/format.md.
#ifndef INTERPOSE_RECORDER_TRACE_FILE_H_
#define INTERPOSE_RECORDER_TRACE_FILE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/recorder/spin_lock.h"
#include "interpose/recorder/system_call.h"
#include "proto/block_encoder.h"
#include "proto/frame.h"

namespace vramtrack {

// Thread-safe. Lives in zeroed memory that is never freed: other threads may still be in a hook when the process ends.
class TraceFile {
 public:
  // Creates the file. 0 or -errno; the errors of a file that exists already leave it alone (-EEXIST).
  int Create(const char* path, uint64_t max_bytes);

  // Appends a sealed Block and notes it for the index. False once recording has stopped.
  bool AppendBlock(const uint8_t* frame, size_t bytes, const JournalView& view, const BlockSummary& summary);

  // A new journal, mapped: kMaxJournalBytes whose words begin at kJournalWordsOffset. Null where there is no room.
  uint64_t* NewJournal();

  // Writes what is left of the index and the Trailer. Events may still be recorded afterwards.
  void Finish(uint64_t end_ticks);

  // Ends recording: what is in the file stays. Only the first reason counts.
  void Stop(schema::StopReason reason);
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }

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

  bool Append(const void* data, size_t bytes);  // lock held
  bool Room(uint64_t bytes);                    // lock held
  bool OwnDescriptor();                         // lock held
  void WriteIndex();                            // lock held

  SpinLock lock_;
  int fd_;
  FileIdentity identity_;
  uint64_t end_, max_bytes_, events_, last_index_;
  size_t index_entries_;
  std::atomic<bool> stopped_;
  std::atomic<uint64_t>* counters_;
  IndexEntry index_[kIndexEntries];
  uint8_t index_frame_[kIndexEntries * 64];
  char path_[kPathBytes];
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_TRACE_FILE_H_
