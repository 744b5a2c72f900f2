// SPDX-License-Identifier: Apache-2.0
//
// Reads the memory of this process where an address may be wrong: the kernel does the reading, so a bad address is an
// error and no fault. Other threads may change or free what is read.
#ifndef INTERPOSE_HOLDERS_PROCESS_MEMORY_H_
#define INTERPOSE_HOLDERS_PROCESS_MEMORY_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/growing_array.h"

namespace vramtrack::holders {

// Zero-initialised memory is an object that knows no ranges. Not thread-safe.
class ProcessMemory {
 public:
  // Learns the ranges of mapped memory as they are now. Returns false if they cannot be read.
  bool Prepare();
  void Unmap();

  // IsHeap returns whether the address was, when Prepare was called, in writable memory that does not come from a file;
  // IsFile whether it was in a mapped file.
  bool IsHeap(uint64_t address) const { return address % 8 == 0 && In(heap_, address); }
  bool IsFile(uint64_t address) const { return In(files_, address); }

  // Reads an object on the heap, at most `most` words. Returns the number of words that belong to it, or 0 if its size
  // is not known. The size is in the header that glibc's malloc puts before each chunk.
  size_t ReadObject(uint64_t address, uint64_t* words, size_t most) const;
  // Returns whether an allocation on the heap begins there and has about this size, as that of a std::vector does.
  // Without glibc's malloc it cannot be known: then a small size is believed.
  bool IsArray(uint64_t address, uint64_t bytes) const;
  // Reads up to `bytes`. Returns the number of bytes read before the first address that cannot be read.
  size_t Read(uint64_t address, void* to, size_t bytes) const;
  // Reads `first` bytes and then `second` bytes after these. Returns the number of bytes read.
  size_t Read(uint64_t address, void* to_first, size_t first, void* to_second, size_t second) const;
  // Reads the word at each address; the word of an address that cannot be read is 0.
  void ReadWords(const uint64_t* addresses, size_t count, uint64_t* words) const;

 private:
  struct Range {
    uint64_t begin, end;
  };
  static bool In(const GrowingArray<Range>& ranges, uint64_t address);

  GrowingArray<Range> heap_, files_;  // by ascending address
  bool glibc_;                        // the process uses glibc's malloc
};

}  // namespace vramtrack::holders

#endif  // INTERPOSE_HOLDERS_PROCESS_MEMORY_H_
