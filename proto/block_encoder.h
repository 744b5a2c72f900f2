// SPDX-License-Identifier: Apache-2.0
//
// Turns a journal into a sealed Block. Runs inside the traced process when a journal is full, and in the reader for
// journals that a killed process left behind.
#ifndef PROTO_BLOCK_ENCODER_H_
#define PROTO_BLOCK_ENCODER_H_

#include <cstddef>
#include <cstdint>

#include "proto/frame.h"
#include "proto/journal.h"

namespace vramtrack {

constexpr size_t kMaxJournalBytes = 128 * 1024;
constexpr size_t kMaxJournalEvents = kMaxJournalBytes / 16;  // the smallest event has two words
constexpr size_t kMaxRecordWords = (kMaxJournalBytes - kJournalWordsOffset) / 8 - kJournalHeaderWords;

struct JournalView {
  uint32_t thread;
  uint64_t first_sequence;
  uint64_t first_allocation;
  const uint64_t* records;
  size_t words;
};

// What a block has.
struct BlockSummary {
  uint64_t first_time;  // ticks
  uint32_t events, allocations;
  uint32_t definition_bytes;
  uint32_t definitions_offset;  // of the encoded definitions in the frame
};

// Block.shape_call.
constexpr int kShapeCallBits = 4;
constexpr uint32_t ShapeCall(uint32_t operation, uint32_t kind) { return operation | kind << kShapeCallBits; }

// What many events have in common.
struct EventShape {
  uint64_t word;  // the event's first one, without its flags
  uint64_t bytes, stream;
};

// Needs zeroed memory, about 0.9 MiB, of which a usual block touches 150 KiB.
class BlockEncoder {
 public:
  // Encodes the whole view as one frame and returns it (valid until the next call), `*frame_bytes` long. A view with
  // neither events nor definitions gives 0 bytes. Encoding stops at a malformed record; `*words_read` (may be null) is
  // the number of words before it. Times are kept in units of 2^time_shift ticks. `with_generation` puts a generation
  // first, which SetGeneration fills in when the block's place in the file is known.
  uint8_t* Encode(const JournalView& view, uint32_t time_shift, size_t* frame_bytes, BlockSummary* summary,
                  size_t* words_read = nullptr, bool with_generation = false);

 private:
  struct Column {
    uint8_t* begin;
    uint8_t* at;
    size_t bytes() const { return static_cast<size_t>(at - begin); }
  };

  bool ReadEvents(const JournalView& view, uint32_t time_shift, BlockSummary* summary, size_t* words_read);
  // Returns 0 for a new shape, otherwise 1 + its row.
  uint32_t ShapeReference(const EventShape& shape);
  size_t WriteDefinitions(const JournalView& view, uint8_t* out, size_t capacity) const;

  static constexpr size_t kShapeSlots = 2 * kMaxJournalEvents;
  static constexpr size_t kColumnBytes = 10 * kMaxJournalEvents;

  uint16_t shape_slots_[kShapeSlots];  // 1 + index into shapes_, 0: free
  size_t slot_mask_;                   // a block uses as many slots as its journal needs
  EventShape shapes_[kMaxJournalEvents];
  uint32_t shape_count_;
  size_t first_definition_, definitions_end_;  // words of the view, between which all definitions are
  uint32_t address_shift_;
  Column event_shape_, event_time_, address_, age_, foreign_, value_;
  uint8_t column_memory_[5][kColumnBytes];
  uint8_t value_memory_[2 * kColumnBytes];
  uint8_t frame_[kMaxJournalBytes * 2 + kPageBytes];
};

}  // namespace vramtrack

#endif  // PROTO_BLOCK_ENCODER_H_
