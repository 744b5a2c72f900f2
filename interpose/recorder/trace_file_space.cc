// SPDX-License-Identifier: Apache-2.0
//
// Writes frames into space that the file already contains: all frames of a file of bounded size, and the end of any
// file that is finished while other threads still record. Padding always covers free space. It is shortened before
// something is written after it, and the beginning of a frame is written last. Whenever the process is killed, the file
// can be read from its beginning to its end, and every frame in it is complete.
#include "interpose/recorder/file_space.h"
#include "interpose/recorder/trace_file.h"

namespace vramtrack {
namespace {

constexpr uint64_t kMinExtendBytes = 16 << 10, kMaxExtendBytes = 256 << 10;
// A thread that records as fast as it can fills about one block between the end of the recording and that of the
// process.
constexpr uint64_t kTailBytesOfThread = 32 << 10;
constexpr size_t kMostTailThreads = 8;

}  // namespace

uint64_t TraceFile::PlaceBytes(uint64_t bytes) {
  const uint64_t rounded = FileSpace::RoundUp(bytes);
  const bool too_narrow = rounded != bytes && rounded - bytes < kPaddingPrefixBytes;
  return too_narrow ? rounded + FileSpace::kGranuleBytes : rounded;
}

bool TraceFile::WritePadding(const FileSpace::Range& range) {
  uint8_t prefix[kPaddingPrefixBytes];
  WritePaddingPrefix(prefix, range.end - range.begin);
  return Write(prefix, sizeof prefix, range.begin);
}

bool TraceFile::MakeSpace() {
  if (space_ == nullptr) space_ = static_cast<FileSpace*>(MapPrivate(sizeof(FileSpace)));
  return space_ != nullptr;
}

// Adds `bytes` of free room, or a little more, to the end of the file.
bool TraceFile::ExtendBy(uint64_t bytes) {
  const uint64_t begin = PlaceBytes(end_);
  if (!finished_) {
    const int error = AllocateRoom(end_, begin + bytes - end_);
    if (error != 0) {
      StopFor(error);
      return false;
    }
    if (begin != end_ && !WritePadding({end_, begin})) return false;
    end_ = begin + bytes;
  } else {
    // The process may end at any moment, but a write within one page is not stopped halfway. The file ends at a
    // granule.
    uint8_t frame[kPageBytes] = {};
    while (end_ < begin + bytes) {
      const uint64_t page_bytes = kPageBytes - end_ % kPageBytes;
      WritePaddingPrefix(frame, page_bytes);
      if (!Append(frame, page_bytes)) return false;
    }
  }
  return WritePadding(space_->Add(begin, end_));
}

// Makes the file longer so that `bytes` fit at its end. False where it may not be.
bool TraceFile::Extend(uint64_t bytes) {
  const uint64_t cap = Cap() / FileSpace::kGranuleBytes * FileSpace::kGranuleBytes;
  const uint64_t tail = space_->FreeAtEnd(end_);
  const uint64_t need = bytes > tail ? bytes - tail : 0;
  uint64_t grow = FileSpace::RoundUp(cap / 64);
  if (grow < kMinExtendBytes) grow = kMinExtendBytes;
  if (grow > kMaxExtendBytes) grow = kMaxExtendBytes;
  if (grow < need) grow = need;
  if (cap < end_ + grow) grow = cap > end_ ? cap - end_ : 0;
  return grow >= need && grow != 0 && ExtendBy(grow);
}

bool TraceFile::Place(const uint8_t* frame, size_t bytes, uint32_t generation) {
  const uint64_t room = PlaceBytes(bytes);
  uint64_t offset;
  FileSpace::Range rest;
  if (!space_->Take(room, generation, &offset, &rest)) {
    if (!Extend(room) || !space_->Take(room, generation, &offset, &rest)) return false;
  }
  // First what follows: until the frame's beginning is there, the padding around it still counts.
  uint8_t behind[2 * FileSpace::kGranuleBytes] = {};
  const uint64_t gap = room - bytes;
  if (gap != 0) WritePaddingPrefix(behind, gap);
  size_t behind_bytes = gap;
  if (rest.begin != rest.end) {
    WritePaddingPrefix(behind + gap, rest.end - rest.begin);
    behind_bytes += kPaddingPrefixBytes;
  }
  const size_t beginning = bytes < FileSpace::kGranuleBytes ? bytes : FileSpace::kGranuleBytes;
  return (behind_bytes == 0 || Write(behind, behind_bytes, offset + bytes)) &&
         (beginning == bytes || Write(frame + beginning, bytes - beginning, offset + beginning)) &&
         Write(frame, beginning, offset);
}

// Room before the trailer for what other threads seal while the process ends: the kernel stops a write halfway, and the
// end of the file would be half a frame.
void TraceFile::MakeTail(size_t threads) {
  if (threads == 0) return;
  if (threads > kMostTailThreads) threads = kMostTailThreads;
  const uint64_t bytes = threads * kTailBytesOfThread;
  const bool room = end_ + bytes + 2 * FileSpace::kGranuleBytes + kTrailerBytes <= Cap();
  if (room && !stopped() && OwnDescriptor() && MakeSpace()) ExtendBy(bytes);
}

bool TraceFile::AppendFinished(const uint8_t* frame, size_t bytes) {
  if (stopped()) return false;
  if (!OwnDescriptor()) {
    Stop(schema::STOP_FILE_TAKEN);
  } else if (!Place(frame, bytes, 0)) {
    Stop(schema::STOP_SIZE_CAP);
  }
  return !stopped();
}

}  // namespace vramtrack
