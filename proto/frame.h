// SPDX-License-Identifier: Apache-2.0
//
// The layout of a Trace's fields in the file: what a reader needs to go through it, also after damage.
//
//   header page   0A len*5 | 09 magic*8 | 15 version*4 | 1A len*3 counter*8... | 7A len padding   4,096 bytes in all
//   sealed frame  tag len*5 | 0D sync*4 | 11 checksum*8 | payload          any other field, such as a Block
//   padding       7A len*5 | anything
//   journal       1A len*5 | 0D sync*4 | 12 len*4 | word*8...              words begin 16 bytes into it, page aligned
#ifndef PROTO_FRAME_H_
#define PROTO_FRAME_H_

#include <cstddef>
#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

constexpr uint64_t kMagic = 0x4b4352544d415256;  // "VRAMTRCK"
constexpr uint32_t kFormatVersion = 1;
constexpr uint32_t kSync = 0x9d3e51c7;

constexpr size_t kPageBytes = 4096;
constexpr size_t kHeaderBytes = kPageBytes;
constexpr size_t kHeaderMagicOffset = 7;
constexpr size_t kHeaderVersionOffset = 16;
constexpr size_t kHeaderCountersOffset = 24;  // eight-byte aligned, as they are updated in place
constexpr size_t kHeaderCounters = 32;

constexpr size_t kLengthBytes = 5;
constexpr size_t kFramePrefixBytes = 1 + kLengthBytes + 5;     // tag, length, sync
constexpr size_t kSealedPrefixBytes = kFramePrefixBytes + 9;   // and checksum
constexpr size_t kJournalWordsOffset = kFramePrefixBytes + 5;  // and tag and length of the words
constexpr size_t kTrailerBytes = kSealedPrefixBytes + 3 * 9;
constexpr size_t kPaddingPrefixBytes = 1 + kLengthBytes;
constexpr uint32_t kMaxFrameBytes = 1u << 26;  // a longer one is damage: no frame exceeds a few hundred KiB
static_assert(kJournalWordsOffset % 8 == 0, "words are stored with single instructions");

constexpr uint8_t FrameTag(uint32_t trace_field) { return static_cast<uint8_t>(trace_field << 3 | 2); }
// The tag of the checksum in every sealed frame.
constexpr uint8_t kFixed64Field2 = 2 << 3 | 1;

// Fills the header page of a new file; its counters are zero.
void WriteHeaderPage(uint8_t* page);

// Fills the prefix of a journal of `bytes` in all.
void WriteJournalPrefix(uint8_t* at, size_t bytes);

// Fills the prefix of a padding field of `bytes` in all, at least kPaddingPrefixBytes.
void WritePaddingPrefix(uint8_t* at, size_t bytes);

// Fills the first kSealedPrefixBytes of a frame whose `payload_bytes` of payload already follow them.
void SealFrame(uint8_t* at, schema::trace_field::Number trace_field, size_t payload_bytes);

// Sets the generation of a sealed frame whose payload begins with it, and seals the frame again.
void SetGeneration(uint8_t* frame, size_t frame_bytes, schema::trace_field::Number trace_field, uint32_t generation);

// Returns the checksum of a sealed frame. The field is the seed, so a frame of one kind is never valid as another.
uint64_t PayloadChecksum(uint32_t trace_field, const uint8_t* payload, size_t bytes);

}  // namespace vramtrack

#endif  // PROTO_FRAME_H_
