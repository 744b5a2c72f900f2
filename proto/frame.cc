// SPDX-License-Identifier: Apache-2.0
#include "proto/frame.h"

#include <cstring>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "proto/varint.h"

namespace vramtrack {
namespace {

constexpr uint8_t kFixed32Field1 = 1 << 3 | 5;
constexpr uint8_t kFixed64Field1 = 1 << 3 | 1;
constexpr uint8_t kFixed32Field2 = 2 << 3 | 5;

static_assert(schema::block_field::sync == 1 && schema::block_field::checksum == 2, "the prefix is written by hand");
static_assert(schema::index_field::sync == 1 && schema::index_field::checksum == 2, "the prefix is written by hand");
static_assert(schema::trailer_field::sync == 1 && schema::trailer_field::checksum == 2,
              "the prefix is written by hand");
static_assert(schema::header_field::magic == 1 && schema::header_field::version == 2, "the page is written by hand");

template <typename T>
uint8_t* Put(uint8_t* at, T value) {
  std::memcpy(at, &value, sizeof value);
  return at + sizeof value;
}

uint8_t* WriteFramePrefix(uint8_t* at, uint32_t trace_field, size_t frame_bytes) {
  *at++ = FrameTag(trace_field);
  at = PutPaddedVarint(at, frame_bytes - 1 - kLengthBytes, kLengthBytes);
  *at++ = kFixed32Field1;
  return Put(at, kSync);
}

}  // namespace

void WriteHeaderPage(uint8_t* page) {
  std::memset(page, 0, kHeaderBytes);
  uint8_t* at = page;
  *at++ = FrameTag(schema::trace_field::header);
  at = PutPaddedVarint(at, kHeaderBytes - 1 - kLengthBytes, kLengthBytes);
  *at++ = kFixed64Field1;
  at = Put(at, kMagic);
  *at++ = kFixed32Field2;
  at = Put(at, kFormatVersion);
  *at++ = FrameTag(schema::header_field::counters);
  at = PutPaddedVarint(at, 8 * kHeaderCounters, 3);
  at += 8 * kHeaderCounters;
  *at++ = FrameTag(schema::header_field::padding);
  PutPaddedVarint(at, static_cast<uint64_t>(page + kHeaderBytes - at - 3), 3);
}

void WriteJournalPrefix(uint8_t* at, size_t bytes) {
  at = WriteFramePrefix(at, schema::trace_field::journals, bytes);
  *at++ = FrameTag(schema::journal_field::words);
  PutPaddedVarint(at, bytes - kJournalWordsOffset, 4);
}

void WritePaddingPrefix(uint8_t* at, size_t bytes) {
  *at++ = FrameTag(schema::trace_field::padding);
  PutPaddedVarint(at, bytes - kPaddingPrefixBytes, kLengthBytes);
}

void SealFrame(uint8_t* at, schema::trace_field::Number trace_field, size_t payload_bytes) {
  uint8_t* payload = at + kSealedPrefixBytes;
  at = WriteFramePrefix(at, trace_field, kSealedPrefixBytes + payload_bytes);
  *at++ = kFixed64Field2;
  Put(at, PayloadChecksum(trace_field, payload, payload_bytes));
}

void SetGeneration(uint8_t* frame, size_t frame_bytes, schema::trace_field::Number trace_field, uint32_t generation) {
  std::memcpy(frame + kSealedPrefixBytes + 1, &generation, sizeof generation);
  SealFrame(frame, trace_field, frame_bytes - kSealedPrefixBytes);
}

uint64_t PayloadChecksum(uint32_t trace_field, const uint8_t* payload, size_t bytes) {
  return XXH3_64bits_withSeed(payload, bytes, trace_field);
}

}  // namespace vramtrack
