// SPDX-License-Identifier: Apache-2.0
#include "interpose/recorder/trace_file.h"

#include <errno.h>

#include <cstring>

#include "interpose/base/clock.h"
#include "proto/message_writer.h"

namespace vramtrack {
int TraceFile::Create(const char* path, uint64_t max_bytes) {
  if (std::strlen(path) >= sizeof path_) return -ENAMETOOLONG;
  const int fd = OpenForWriting(path, /*exclusive=*/true);
  if (fd < 0) return fd;
  std::memcpy(path_, path, std::strlen(path) + 1);
  fd_ = MoveUp(fd);
  if (fd_ < 0) {
    Remove(path_);
    return fd_;
  }
  max_bytes_ = max_bytes;
  host_readings_.Begin();
  // Room first: a store into a mapped page without room on the disk would be SIGBUS.
  int error = FileSizeLimit() < kHeaderBytes ? -EFBIG : Allocate(fd_, 0, kHeaderBytes);
  if (error == 0 && !StatusOf(fd_, &status_)) error = -EIO;
  void* page = error == 0 ? MapShared(fd_, 0, kHeaderBytes) : nullptr;
  if (error == 0 && page == nullptr) error = -ENODEV;
  if (error != 0) {
    Discard();
    return error;
  }
  WriteHeaderPage(static_cast<uint8_t*>(page));
  counters_ = reinterpret_cast<std::atomic<uint64_t>*>(static_cast<uint8_t*>(page) + kHeaderCountersOffset);
  end_ = kHeaderBytes;
  if (max_bytes == UINT64_MAX) return 0;
  bounded_ = static_cast<Bounded*>(MapPrivate(sizeof(Bounded)));
  error = bounded_ == nullptr || !MakeSpace() ? -ENOMEM : BeginBounded();
  if (error != 0) Discard();
  counter(schema::COUNTER_MAX_BYTES)->store(max_bytes, std::memory_order_relaxed);
  return error;
}

void TraceFile::Discard() {
  Close(fd_);
  Remove(path_);
}

void TraceFile::Stop(schema::StopReason reason) {
  if (!stopped_.exchange(true)) counter(schema::COUNTER_STOP_REASON)->store(reason, std::memory_order_relaxed);
}

void TraceFile::StopFor(int error) {
  switch (error) {
    case -ENOSPC:
    case -EDQUOT:
      return Stop(schema::STOP_DISK_FULL);
    case -EFBIG:
      return Stop(schema::STOP_SIZE_CAP);
    default:
      return Stop(schema::STOP_WRITE_ERROR);
  }
}

// Whether the descriptor is of the file that is mapped, whatever inode that is: what is stored through the mapping must
// be read through the descriptor. The bytes are padding, at the end of the header page.
bool TraceFile::HoldsWhatIsMapped(int fd) {
  constexpr size_t kProbeOffset = kHeaderBytes - sizeof(uint64_t);
  static_assert(kProbeOffset >= kHeaderCountersOffset + 8 * kHeaderCounters + 4, "behind the prefix of the padding");
  auto* page = reinterpret_cast<uint8_t*>(counters_) - kHeaderCountersOffset;
  auto* probe = reinterpret_cast<std::atomic<uint64_t>*>(page + kProbeOffset);
  bool same = true;
  for (uint64_t i = 1; same && i <= 2; ++i) {
    const uint64_t value = (Clock::Ticks() + i) * 0x9e3779b97f4a7c15 | 1;
    uint64_t seen = 0;
    probe->store(value);
    same = ReadAt(fd, &seen, sizeof seen, kProbeOffset) == 0 && seen == value;
  }
  probe->store(0);
  return same;
}

// A process that was restored from a checkpoint may have another inode behind the same name, descriptor and mapping.
bool TraceFile::IsOurs(int fd) {
  FileStatus now;
  if (!StatusOf(fd, &now)) return false;
  if (now.IsOfSameFileAs(status_)) return true;
  if (!now.regular || !HoldsWhatIsMapped(fd)) return false;
  status_ = now;
  return true;
}

// A program that closes every descriptor (a daemon) closes ours, and the number may be another file's by now: writing
// there would be the worst thing that a tracer can do.
bool TraceFile::OwnDescriptor() { return IsOurs(fd_) || OpenAgain(); }

bool TraceFile::OpenAgain() {
  const int fd = OpenForWriting(path_, /*exclusive=*/false);
  reopen_error_ = fd < 0 ? fd : 0;
  if (fd < 0) return false;
  if (!IsOurs(fd)) {
    Close(fd);
    return false;
  }
  fd_ = MoveUp(fd);
  reopen_error_ = fd_ < 0 ? fd_ : 0;
  return fd_ >= 0;
}

bool TraceFile::removed() {
  FileStatus now;
  return StatusOf(fd_, &now) && now.IsOfSameFileAs(status_) && now.links == 0;
}

uint64_t TraceFile::Cap() const {
  const uint64_t limit = FileSizeLimit();
  return limit < max_bytes_ ? limit : max_bytes_;
}

bool TraceFile::Room(uint64_t bytes) {
  if (end_ + bytes > Cap()) {
    Stop(schema::STOP_SIZE_CAP);
    return false;
  }
  if (!OwnDescriptor()) {
    Stop(schema::STOP_FILE_TAKEN);
    return false;
  }
  return true;
}

// -EBADF: the descriptor can only be read, or has been closed since it was looked at.
bool TraceFile::Write(const void* data, size_t bytes, uint64_t offset) {
  int error = WriteAt(fd_, data, bytes, offset);
  if (error == -EBADF && OpenAgain()) error = WriteAt(fd_, data, bytes, offset);
  if (error != 0) StopFor(error);
  return error == 0;
}

int TraceFile::AllocateRoom(uint64_t offset, uint64_t bytes) {
  int error = Allocate(fd_, offset, bytes);
  if (error == -EBADF && OpenAgain()) error = Allocate(fd_, offset, bytes);
  return error;
}

bool TraceFile::Append(const void* data, size_t bytes) {
  if (stopped() || !Room(bytes) || !Write(data, bytes, end_)) return false;
  end_ += bytes;
  return true;
}

bool TraceFile::AppendBlock(uint8_t* frame, size_t bytes, const JournalView& view, const BlockSummary& summary) {
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return false;
  if (bounded()) return AppendBounded(frame, bytes, view, summary);
  if (space_ != nullptr) return AppendFinished(frame, bytes);
  if (!Append(frame, bytes)) return false;
  events_ += summary.events;
  return true;
}

bool TraceFile::AppendActivities(uint8_t* frame, size_t bytes, uint64_t records) {
  SpinLockHolder hold(&lock_);
  // Unlike events, records after the trailer have no room kept for them.
  const bool written =
      hold.held() && (bounded() ? AppendBoundedActivities(frame, bytes) : space_ == nullptr && Append(frame, bytes));
  counter(written ? schema::COUNTER_ACTIVITIES : schema::COUNTER_ACTIVITIES_UNWRITTEN)
      ->fetch_add(records, std::memory_order_relaxed);
  return written;
}

bool TraceFile::AppendHolderWalk(uint8_t* frame, size_t bytes, bool begins) {
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return false;
  return bounded() ? AppendBoundedWalk(frame, bytes, begins) : space_ == nullptr && Append(frame, bytes);
}

uint64_t* TraceFile::MapJournal(uint64_t start) {
  auto* mapped = static_cast<uint8_t*>(MapShared(fd_, start, kMaxJournalBytes));
  if (mapped == nullptr) {
    Stop(schema::STOP_OUT_OF_MEMORY);
    return nullptr;
  }
  return reinterpret_cast<uint64_t*>(mapped + kJournalWordsOffset);
}

uint64_t* TraceFile::NewJournal() {
  SpinLockHolder hold(&lock_);
  if (!hold.held() || stopped()) return nullptr;
  if (bounded()) return NewBoundedJournal();
  // Mapped ranges begin at a page; what lies between is a padding field.
  uint64_t start = (end_ + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (start != end_ && start - end_ < kPaddingPrefixBytes) start += kPageBytes;
  if (!Room(start - end_ + kMaxJournalBytes)) return nullptr;
  const int error = AllocateRoom(start, kMaxJournalBytes);
  if (error != 0) {
    StopFor(error);
    return nullptr;
  }
  if (start != end_) {
    uint8_t prefix[kPaddingPrefixBytes];
    WritePaddingPrefix(prefix, start - end_);
    if (!Append(prefix, sizeof prefix)) return nullptr;
  }
  uint64_t* words = MapJournal(start);
  if (words == nullptr) return nullptr;
  WriteJournalPrefix(reinterpret_cast<uint8_t*>(words) - kJournalWordsOffset, kMaxJournalBytes);
  end_ = start + kMaxJournalBytes;
  return words;
}

void TraceFile::EndThread(uint32_t thread) {
  if (!bounded()) return;
  SpinLockHolder hold(&lock_);
  if (hold.held()) bounded_->past.EndThread(thread);
}

void TraceFile::Finish(uint64_t end_ticks, size_t other_threads) {
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return;
  if (!bounded()) MakeTail(other_threads);
  uint8_t trailer[kTrailerRoom] = {};
  MessageWriter out(trailer + kSealedPrefixBytes, kTrailerBytes - kSealedPrefixBytes);
  out.Fixed64(schema::trailer_field::last_index, 0);
  out.Fixed64(schema::trailer_field::events, events_);
  out.Fixed64(schema::trailer_field::end_ticks, end_ticks);
  SealFrame(trailer, schema::trace_field::trailer, out.size());
  WritePaddingPrefix(trailer + kTrailerBytes, kTrailerRoom - kTrailerBytes);
  if (bounded() ? !stopped() && OwnDescriptor() && Write(trailer, sizeof trailer, kHeaderBytes)
                : Append(trailer, sizeof trailer)) {
    finished_ = true;
    counter(schema::COUNTER_FINISHED)->store(1, std::memory_order_relaxed);
  }
}

}  // namespace vramtrack
