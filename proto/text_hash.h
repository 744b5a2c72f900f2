// SPDX-License-Identifier: Apache-2.0
//
// Identifies an ELF file that has no build id, by its loaded segments and samples of its code. The recorder takes the
// hash of what is in memory, the reader of what is in a file; both are the same for the file that ran, stripped or not.
#ifndef PROTO_TEXT_HASH_H_
#define PROTO_TEXT_HASH_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "proto/hash.h"

namespace vramtrack {

// Add the PT_LOAD segments in the order of the program headers, each with its code if it is executable and readable.
class TextHash {
 public:
  void AddSegment(uint64_t address, uint64_t file_bytes, uint64_t memory_bytes, uint32_t flags) {
    hash_ = Mix(Mix(Mix(Mix(hash_, address), file_bytes), memory_bytes), flags);
  }
  // `text`: the `bytes` of the segment that are in the file. Pieces of it are read; all of it if it is small.
  void AddText(const char* text, uint64_t bytes) {
    constexpr uint64_t kPieces = 32, kPiece = 512;
    const uint64_t apart = bytes <= kPieces * kPiece ? kPiece : bytes / kPieces;
    for (uint64_t at = 0; at < bytes; at += apart) {
      for (uint64_t i = at; i + sizeof(uint64_t) <= bytes && i < at + kPiece; i += sizeof(uint64_t)) {
        uint64_t word;
        std::memcpy(&word, text + i, sizeof word);
        hash_ = Mix(hash_, word);
      }
    }
  }
  // Never 0.
  uint64_t value() const { return hash_ == 0 ? 1 : hash_; }

 private:
  uint64_t hash_ = 0;
};

}  // namespace vramtrack

#endif  // PROTO_TEXT_HASH_H_
