// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_BASE_MEMORY_MAPS_H_
#define INTERPOSE_BASE_MEMORY_MAPS_H_

#include <cstddef>
#include <cstdint>

#include "interpose/base/growing_array.h"

namespace vramtrack {

// A copy of /proc/self/maps. Zero-initialised memory is an empty one. Not thread-safe.
class MemoryMaps {
 public:
  struct Range {
    uint64_t begin, end;
    bool readable, writable;
    // "/opt/lib.so", "/opt/lib.so (deleted)", "[vdso]", or empty. Not zero-terminated; owned by the copy.
    const char* path;
    size_t path_bytes;
  };

  // Makes the copy. Returns false if the file cannot be read; the copy is then empty.
  bool Read();
  bool empty() const { return text_.size() == 0; }
  void Free() { text_.Free(); }

  // Calls `visit(range)` for each range, by ascending address, until it returns false.
  template <typename Visit>
  void Each(Visit visit) {
    Range range;
    for (const char* line = text_.data(); ReadLine(&line, &range) && visit(range);) {
    }
  }

 private:
  // Reads the line at `*line` and moves it to the next one. Returns false at the end.
  bool ReadLine(const char** line, Range* range);

  GrowingArray<char> text_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_BASE_MEMORY_MAPS_H_
