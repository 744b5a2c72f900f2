// SPDX-License-Identifier: Apache-2.0
//
// The journal: one thread's events that are not in a block yet, as 64-bit words in a mapped page of the file. Recording
// an event is a few stores and the release store of `committed`, so the event is in the file even if the process is
// killed at the next instruction.
//
//   words[0..7]  thread, committed (words used after these), first_sequence, first_allocation, turns (how often it was
//                emptied), 0...
//   words[8..]   records; the first word has their kind and length:
//
//   event        op:8 kind:8 device:8 flags:8 ref:32 | time in ticks | operands
//     ALLOCATE     ref = stack   | address | bytes | stream if kHasStream
//     FREE         ref = thread of the allocation | its ordinal | stream if kHasStream
//     FREE_UNKNOWN               | address
//     FAIL         ref = stack   | error code | bytes
//     FREE_FAILED                | error code
//     STEP         ref = stack   | number | bits of the value
//     MEMORY_INFO                | free bytes | total bytes
//     DEVICE_RESET
//     TRIM                       | pool | bytes it may keep
//     LIMIT        ref = stack   | which | to what
//     FRAMEWORK_MEMORY           | bytes allocated | bytes reserved
//     MARK         ref = stack   | name | number
//   definition   op:8 words:24 ref:32 | ...
//     kDefineStack   ref = id | module epoch:32, truncated:1 at bit 32 | return addresses, innermost first
//     kDefineEncoded          | byte length | fields of a Definitions message, zero padded
#ifndef PROTO_JOURNAL_H_
#define PROTO_JOURNAL_H_

#include <cstddef>
#include <cstdint>

#include "proto/schema_constants.h"

namespace vramtrack {

constexpr size_t kJournalHeaderWords = 8;
enum JournalHeaderWord : size_t {
  kJournalThread,
  kJournalCommitted,
  kJournalFirstSequence,
  kJournalFirstAllocation,
  kJournalTurns
};

constexpr uint32_t kDefineStack = 64;
constexpr uint32_t kDefineEncoded = 65;
constexpr uint32_t kHasStream = 1;  // flags

constexpr uint64_t EventWord(uint32_t operation, uint32_t kind, uint32_t device, uint32_t flags, uint32_t ref) {
  return operation | static_cast<uint64_t>(kind & 0xff) << 8 | static_cast<uint64_t>(device & 0xff) << 16 |
         static_cast<uint64_t>(flags) << 24 | static_cast<uint64_t>(ref) << 32;
}
constexpr uint64_t DefinitionWord(uint32_t operation, size_t words, uint32_t ref) {
  return operation | static_cast<uint64_t>(words & 0xffffff) << 8 | static_cast<uint64_t>(ref) << 32;
}

constexpr uint32_t OperationOf(uint64_t word) { return word & 0xff; }
constexpr uint32_t KindOf(uint64_t word) { return word >> 8 & 0xff; }
constexpr uint32_t DeviceOf(uint64_t word) { return word >> 16 & 0xff; }
constexpr uint32_t FlagsOf(uint64_t word) { return word >> 24 & 0xff; }
constexpr uint32_t RefOf(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

// Returns the number of words of the record that `word` begins; 0 if it begins none.
constexpr size_t RecordWords(uint64_t word) {
  const size_t stream = FlagsOf(word) & kHasStream;
  switch (OperationOf(word)) {
    case schema::ALLOCATE:
      return 4 + stream;
    case schema::FREE:
      return 3 + stream;
    case schema::FREE_UNKNOWN:
      return 3;
    case schema::FAIL:
      return 4;
    case schema::FREE_FAILED:
      return 3;
    case schema::STEP:
      return 4;
    case schema::MEMORY_INFO:
      return 4;
    case schema::DEVICE_RESET:
      return 2;
    case schema::TRIM:
    case schema::LIMIT:
    case schema::FRAMEWORK_MEMORY:
    case schema::MARK:
      return 4;
    case kDefineStack:
    case kDefineEncoded:
      return word >> 8 & 0xffffff;
    default:
      return 0;
  }
}

}  // namespace vramtrack

#endif  // PROTO_JOURNAL_H_
