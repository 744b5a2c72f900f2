// SPDX-License-Identifier: Apache-2.0
//
// Writes frames into space that the file already contains: all frames of a file of bounded size, and the end of any
// file that is finished while other threads still record. Padding always covers free space. It is shortened before
// something is written after it, and the beginning of a frame is written last. Whenever the process is killed, the file
// can be read from its beginning to its end, and every frame in it is complete.
//
// After that: how a file of bounded size reuses its space.
#include <errno.h>

#include <cstring>

#include "interpose/base/clock.h"
#include "interpose/recorder/trace_file.h"
#include "proto/message_writer.h"

namespace vramtrack {
namespace {

// The part of a generation that its checkpoint may take.
constexpr uint64_t kCheckpointEighths = 7;
// Definitions may take a generation's bytes over this, so that its checkpoint, which has them all and a sum for each,
// fits.
constexpr uint64_t kMostDefinitions = 3;
// Activities may take the generation's bytes over this.
constexpr uint64_t kActivityShare = 4;
// A walk may take the file's bytes over this.
constexpr uint64_t kWalkShare = 8;
constexpr uint32_t kWalkGeneration = UINT32_MAX - 1;
constexpr uint64_t kMinPieceBytes = 256;
constexpr uint64_t kPartOverhead = 2 * FileSpace::kGranuleBytes;
// Journals stay where they are, so they begin at multiples of their own size after this: the room between them then
// fits others, however late a thread comes.
constexpr uint64_t kFirstJournal = 2 * kPageBytes;
// After so many generations were given up a journal may begin at any page.
constexpr int kTriesOfSlots = 2;

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

// The file has room for the trailer from the beginning, behind the header page.
int TraceFile::BeginBounded() {
  if (Cap() < end_ + kTrailerRoom) return -EFBIG;
  const int error = AllocateRoom(end_, kTrailerRoom);
  if (error != 0) return error;
  WritePadding({end_, end_ + kTrailerRoom});
  end_ += kTrailerRoom;
  return 0;
}

// What one generation may take: there are two at any time.
uint64_t TraceFile::GenerationBytes() const {
  const uint64_t cap = Cap(), fixed = kHeaderBytes + kTrailerRoom + bounded_->journal_bytes + bounded_->walk_bytes[0] +
                                      bounded_->walk_bytes[1];
  return cap > fixed ? (cap - fixed) / 2 : 0;
}

// Writes a frame where there is room. False where there is none, or recording has stopped.
bool TraceFile::PlaceInGeneration(const uint8_t* frame, size_t bytes) {
  if (!Place(frame, bytes, bounded_->generation)) return false;
  bounded_->generation_bytes += PlaceBytes(bytes);
  return true;
}

bool TraceFile::AppendBounded(uint8_t* frame, size_t bytes, const JournalView& view, const BlockSummary& summary) {
  Bounded& b = *bounded_;
  if (stopped()) return false;
  if (!OwnDescriptor()) {
    Stop(schema::STOP_FILE_TAKEN);
    return false;
  }
  if (b.generation_bytes + PlaceBytes(bytes) > GenerationBytes() && !BeginGeneration()) return false;
  SetGeneration(frame, bytes, schema::trace_field::blocks, b.generation);
  for (int tries = 0; !PlaceInGeneration(frame, bytes); ++tries) {
    // There is room, but in pieces, or a generation has more than its share since there are more journals.
    if (!GiveUpGeneration(tries)) return false;
    SetGeneration(frame, bytes, schema::trace_field::blocks, b.generation);
  }
  events_ += summary.events;
  b.definition_bytes += summary.definition_bytes;
  if (kMostDefinitions * b.definition_bytes > GenerationBytes()) crowded_.store(true, std::memory_order_relaxed);
  if (!b.past.Add(view, summary.events, frame + summary.definitions_offset, summary.definition_bytes)) {
    Stop(schema::STOP_OUT_OF_MEMORY);
  }
  return true;
}

// Activities never end a generation: events are worth more. They may take a part of each.
bool TraceFile::AppendBoundedActivities(uint8_t* frame, size_t bytes) {
  Bounded& b = *bounded_;
  if (stopped() || !OwnDescriptor()) return false;
  const uint64_t room = PlaceBytes(bytes);
  if (kActivityShare * (b.activity_bytes + room) > GenerationBytes()) return false;
  if (b.generation_bytes + room > GenerationBytes()) return false;
  SetGeneration(frame, bytes, schema::trace_field::activities, b.generation);
  if (!PlaceInGeneration(frame, bytes)) return false;
  b.activity_bytes += room;
  return true;
}

// The frames of a walk have a generation of their own, later than all: they are valid until the walk after the next one
// takes their place.
bool TraceFile::AppendBoundedWalk(uint8_t* frame, size_t bytes, bool begins) {
  Bounded& b = *bounded_;
  if (stopped() || !OwnDescriptor()) return false;
  if (begins) ++b.walks;
  const uint32_t which = b.walks % 2, generation = kWalkGeneration + which;
  if (begins) {
    space_->Release(
        generation, [this](const FileSpace::Range& range) { WritePadding(range); }, generation);
    b.walk_bytes[which] = 0;
  }
  const uint64_t room = PlaceBytes(bytes);
  if (kWalkShare * (b.walk_bytes[which] + room) > Cap()) return false;
  SetGeneration(frame, bytes, schema::trace_field::holder_walks, generation);
  if (!Place(frame, bytes, generation)) return false;
  b.walk_bytes[which] += room;
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
    space_->Release(b.generation - 1, [this](const FileSpace::Range& range) { WritePadding(range); });
  }
  ++b.generation;
  b.generation_bytes = b.activity_bytes = 0;
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
      if (PlaceInGeneration(b.part, kSealedPrefixBytes + out.size())) break;
      if (stopped()) return false;
      // There may be room for less.
      const uint64_t most = space_->largest();
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
  uint64_t start = FileSpace::AlignedAfter(end_, kFirstJournal, kMaxJournalBytes);
  FileSpace::Range before = {0, 0}, after = {0, 0};
  if (start + kMaxJournalBytes <= Cap()) {
    const int error = AllocateRoom(end_, start + kMaxJournalBytes - end_);
    if (error != 0) {
      StopFor(error);
      return nullptr;
    }
    if (start != end_) before = space_->Add(end_, start);
    end_ = start + kMaxJournalBytes;
  } else {
    for (int tries = 0;; ++tries) {
      if (space_->TakeAligned(kMaxJournalBytes, kFirstJournal, kMaxJournalBytes, &start, &before, &after)) break;
      const bool any_page = tries >= kTriesOfSlots;
      if (any_page && space_->TakeAligned(kMaxJournalBytes, kPageBytes, kPageBytes, &start, &before, &after)) break;
      if (!GiveUpGeneration(tries)) return nullptr;
    }
  }
  if (after.begin != after.end && !WritePadding(after)) return nullptr;
  uint64_t* words = MapJournal(start);
  if (words == nullptr) return nullptr;
  // Older bytes here are not events.
  std::memset(words, 0, 8 * kJournalHeaderWords);
  uint8_t prefix[kJournalWordsOffset];
  WriteJournalPrefix(prefix, kMaxJournalBytes);
  if (!Write(prefix, sizeof prefix, start)) return nullptr;
  if (before.begin != before.end && !WritePadding(before)) return nullptr;
  return words;
}

}  // namespace vramtrack
