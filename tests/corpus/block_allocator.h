// SPDX-License-Identifier: Apache-2.0
//
// A framework's caching allocator, as far as the emulated jobs need one: blocks are cut from segments, freed blocks are
// kept and used again, segments are never given back. Sizes and limits are those of PyTorch's at its defaults.
#ifndef TESTS_CORPUS_BLOCK_ALLOCATOR_H_
#define TESTS_CORPUS_BLOCK_ALLOCATOR_H_

#include <cstdint>
#include <map>
#include <set>
#include <tuple>

namespace vramtrack::corpus {

// Thread-compatible.
class BlockAllocator {
 public:
  struct Block {
    uint64_t address = 0, bytes = 0;
    uint64_t new_segment = 0;  // address and size of a segment that had to be taken for it; none if the size is 0
    uint64_t new_segment_bytes = 0;
  };

  explicit BlockAllocator(uint64_t first_address = 0x7f0000000000) : next_segment_(first_address) {}

  // Blocks of different pools never share a segment.
  Block Allocate(uint64_t bytes, uint32_t pool);
  void Free(uint64_t address);

 private:
  struct Piece {
    uint64_t bytes = 0, segment = 0;
    uint32_t pool = 0;
    bool small = false, free = false;
  };
  using Key = std::tuple<uint32_t, bool, uint64_t, uint64_t>;  // pool, small, bytes, address

  Key KeyOf(uint64_t address, const Piece& piece) const { return {piece.pool, piece.small, piece.bytes, address}; }

  std::map<uint64_t, Piece> pieces_;  // by address; those of a segment follow each other
  std::set<Key> free_;
  uint64_t next_segment_;
};

}  // namespace vramtrack::corpus

#endif  // TESTS_CORPUS_BLOCK_ALLOCATOR_H_
