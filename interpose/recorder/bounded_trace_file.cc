// SPDX-License-Identifier: Apache-2.0
//
// How a TraceFile of bounded size uses its room again. Free room is always covered by padding, which is shortened
// before something is written behind it: whenever the process is killed, the file can be walked from its beginning to
// its end, and what was being written is a frame with a wrong checksum.
#include <errno.h>

#include <cstring>

#include "interpose/recorder/clock.h"
#include "interpose/recorder/trace_file.h"
#include "proto/message_writer.h"

namespace vramtrack {
namespace {

// With less a generation would be a few blocks.
constexpr uint64_t kMinGenerationBytes = 32 << 10;
constexpr uint64_t kMinExtendBytes = 16 << 10, kMaxExtendBytes = 256 << 10;
// The file has room for the trailer from the beginning, behind the header page.
constexpr uint64_t kTrailerRoom = FileSpace::kGranuleBytes;
static_assert(kTrailerBytes + kPaddingPrefixBytes <= kTrailerRoom, "the rest is padding");
// The part of a generation that its checkpoint may take.
constexpr uint64_t kCheckpointEighths = 7;
constexpr uint64_t kMinPieceBytes = 256;
constexpr uint64_t kPartOverhead = 2 * FileSpace::kGranuleBytes;

// What a frame takes, padding to the next multiple included.
uint64_t PlaceBytes(uint64_t bytes) {
  const uint64_t rounded = FileSpace::RoundUp(bytes);
  const bool too_narrow = rounded != bytes && rounded - bytes < kPaddingPrefixBytes;
  return too_narrow ? rounded + FileSpace::kGranuleBytes : rounded;
}

}  // namespace

int TraceFile::BeginBounded() {
  if (Cap() < end_ + kTrailerRoom) return -EFBIG;
  const int error = Allocate(fd_, end_, kTrailerRoom);
  if (error != 0) return error;
  WritePadding({end_, end_ + kTrailerRoom});
  end_ += kTrailerRoom;
  return 0;
}

// What one generation may take: there are two at any time.
uint64_t TraceFile::GenerationBytes() const {
  const uint64_t cap = Cap(), fixed = kHeaderBytes + kTrailerRoom + bounded_->journal_bytes;
  return cap > fixed ? (cap - fixed) / 2 : 0;
}

bool TraceFile::WritePadding(const FileSpace::Range& range) {
  uint8_t prefix[kPaddingPrefixBytes];
  WritePaddingPrefix(prefix, range.end - range.begin);
  return Write(prefix, sizeof prefix, range.begin);
}

// Makes the file longer so that `bytes` fit at its end. False where it may not be.
bool TraceFile::Extend(uint64_t bytes) {
  const uint64_t cap = Cap() / FileSpace::kGranuleBytes * FileSpace::kGranuleBytes;
  const uint64_t tail = bounded_->space.FreeAtEnd(end_);
  const uint64_t need = bytes > tail ? bytes - tail : 0;
  uint64_t grow = FileSpace::RoundUp(cap / 64);
  if (grow < kMinExtendBytes) grow = kMinExtendBytes;
  if (grow > kMaxExtendBytes) grow = kMaxExtendBytes;
  if (grow < need) grow = need;
  if (cap < end_ + grow) grow = cap > end_ ? cap - end_ : 0;
  if (grow < need || grow == 0) return false;
  const int error = Allocate(fd_, end_, grow);
  if (error != 0) {
    StopFor(error);
    return false;
  }
  const FileSpace::Range range = bounded_->space.Add(end_, end_ + grow);
  end_ += grow;
  return WritePadding(range);
}

// Writes a frame where there is room. False where there is none, or recording has stopped.
bool TraceFile::Place(const uint8_t* frame, size_t bytes) {
  Bounded& b = *bounded_;
  const uint64_t room = PlaceBytes(bytes);
  uint64_t offset;
  FileSpace::Range rest;
  if (!b.space.Take(room, b.generation, &offset, &rest)) {
    if (!Extend(room) || !b.space.Take(room, b.generation, &offset, &rest)) return false;
  }
  b.generation_bytes += room;
  // First what follows: until the frame is there, the padding around it still counts.
  uint8_t behind[2 * FileSpace::kGranuleBytes] = {};
  const uint64_t gap = room - bytes;
  if (gap != 0) WritePaddingPrefix(behind, gap);
  size_t behind_bytes = gap;
  if (rest.begin != rest.end) {
    WritePaddingPrefix(behind + gap, rest.end - rest.begin);
    behind_bytes += kPaddingPrefixBytes;
  }
  return (behind_bytes == 0 || Write(behind, behind_bytes, offset + bytes)) && Write(frame, bytes, offset);
}

bool TraceFile::AppendBounded(uint8_t* frame, size_t bytes, const JournalView& view, const BlockSummary& summary) {
  Bounded& b = *bounded_;
  if (stopped()) return false;
  if (!OwnDescriptor()) {
    Stop(schema::STOP_FILE_TAKEN);
    return false;
  }
  if (b.generation_bytes + PlaceBytes(bytes) > GenerationBytes() && !BeginGeneration()) return false;
  SetBlockGeneration(frame, bytes, b.generation);
  for (int tries = 0; !Place(frame, bytes); ++tries) {
    // There is room, but in pieces, or a generation has more than its share since there are more journals.
    if (!GiveUpGeneration(tries)) return false;
    SetBlockGeneration(frame, bytes, b.generation);
  }
  events_ += summary.events;
  if (!b.past.Add(view, summary.events, frame + summary.definitions_offset, summary.definition_bytes)) {
    Stop(schema::STOP_OUT_OF_MEMORY);
  }
  return true;
}

// From here on a reader begins with the present generation, whose checkpoint is complete; the room of the one before is
// free; and a new one begins with its checkpoint. False, with recording stopped, where that has no room.
bool TraceFile::BeginGeneration() {
  Bounded& b = *bounded_;
  if (!EncodeCheckpoint()) return false;
  counter(schema::COUNTER_FOLDED_PAIRS)->store(b.pairs_at_checkpoint, std::memory_order_relaxed);
  counter(schema::COUNTER_BASE_GENERATION)->store(b.generation, std::memory_order_release);
  if (b.generation > 0) {
    b.space.Release(b.generation - 1, [this](const FileSpace::Range& range) { WritePadding(range); });
  }
  ++b.generation;
  b.generation_bytes = 0;
  b.pairs_at_checkpoint = b.past.folded_pairs();
  if (stopped()) return false;
  if (!WriteCheckpoint()) {
    Stop(schema::STOP_SIZE_CAP);
    return false;
  }
  return true;
}

// Makes room before its time: first the older generation's, then that of the present one. False, with recording
// stopped, where there is none left to give up.
bool TraceFile::GiveUpGeneration(int tries) {
  if (stopped()) return false;
  if (tries < 2) return BeginGeneration();
  Stop(schema::STOP_SIZE_CAP);
  return false;
}

bool TraceFile::EncodeCheckpoint() {
  Bounded& b = *bounded_;
  for (;;) {
    b.checkpoint.Clear();
    if (!b.past.Encode(Clock::time_shift(), &b.checkpoint)) {
      Stop(schema::STOP_OUT_OF_MEMORY);
      return false;
    }
    const uint64_t bytes = b.checkpoint.size() + b.checkpoint.size() / 128 + kPartOverhead;
    const uint64_t room = GenerationBytes();
    // Sums that leave little room for what happens now are kept coarser.
    const bool cramped = 2 * bytes > room && 2 * b.past.sums_bytes() > bytes;
    if (!cramped && 8 * bytes <= kCheckpointEighths * room) return true;
    if (b.past.Coarsen()) continue;
    if (8 * bytes <= kCheckpointEighths * room) return true;
    Stop(schema::STOP_SIZE_CAP);
    return false;
  }
}

bool TraceFile::WriteCheckpoint() {
  namespace f = schema::checkpointPart_field;
  Bounded& b = *bounded_;
  size_t piece = 0;
  for (uint32_t part = 0, at = 0; at < b.checkpoint.size(); ++part, at += piece) {
    const size_t left = b.checkpoint.size() - at;
    piece = left < sizeof b.part - kPartOverhead ? left : sizeof b.part - kPartOverhead;
    for (;;) {
      MessageWriter out(b.part + kSealedPrefixBytes, sizeof b.part - kSealedPrefixBytes);
      out.Varint(f::generation, b.generation);
      out.Varint(f::part, part);
      out.Varint(f::last, piece == left);
      out.Bytes(f::piece, b.checkpoint.data() + at, piece);
      SealFrame(b.part, schema::trace_field::checkpoint_parts, out.size());
      if (Place(b.part, kSealedPrefixBytes + out.size())) break;
      if (stopped()) return false;
      // There may be room for less.
      const uint64_t most = b.space.largest();
      if (most < kMinPieceBytes + kPartOverhead || most - kPartOverhead >= piece) return false;
      piece = most - kPartOverhead;
    }
  }
  return true;
}

uint64_t* TraceFile::NewBoundedJournal() {
  Bounded& b = *bounded_;
  if (!OwnDescriptor()) {
    Stop(schema::STOP_FILE_TAKEN);
    return nullptr;
  }
  b.journal_bytes += kMaxJournalBytes;
  if (GenerationBytes() < kMinGenerationBytes) {
    b.journal_bytes -= kMaxJournalBytes;
    Stop(schema::STOP_SIZE_CAP);
    return nullptr;
  }
  uint64_t start = (end_ + kPageBytes - 1) / kPageBytes * kPageBytes;
  FileSpace::Range before = {0, 0}, after = {0, 0};
  if (start + kMaxJournalBytes <= Cap()) {
    const int error = Allocate(fd_, end_, start + kMaxJournalBytes - end_);
    if (error != 0) {
      StopFor(error);
      return nullptr;
    }
    if (start != end_) before = b.space.Add(end_, start);
    end_ = start + kMaxJournalBytes;
  } else {
    for (int tries = 0; !b.space.TakeAligned(kMaxJournalBytes, kPageBytes, &start, &before, &after); ++tries) {
      if (!GiveUpGeneration(tries)) return nullptr;
    }
  }
  if (after.begin != after.end && !WritePadding(after)) return nullptr;
  uint64_t* words = MapJournal(start);
  if (words == nullptr) return nullptr;
  // What lay here before is no event.
  std::memset(words, 0, 8 * kJournalHeaderWords);
  uint8_t prefix[kJournalWordsOffset];
  WriteJournalPrefix(prefix, kMaxJournalBytes);
  if (!Write(prefix, sizeof prefix, start)) return nullptr;
  if (before.begin != before.end && !WritePadding(before)) return nullptr;
  return words;
}

bool TraceFile::AppendTrailer(const uint8_t* trailer) {
  uint8_t room[kTrailerRoom] = {};
  std::memcpy(room, trailer, kTrailerBytes);
  WritePaddingPrefix(room + kTrailerBytes, kTrailerRoom - kTrailerBytes);
  return !stopped() && OwnDescriptor() && Write(room, sizeof room, kHeaderBytes);
}

}  // namespace vramtrack
