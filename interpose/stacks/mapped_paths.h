// SPDX-License-Identifier: Apache-2.0
//
// Which file is mapped at an address, as the kernel says it. The loader knows a library by the name that it was opened
// with, which may be relative to a working directory of the past; and a program that was started through the loader is
// not the process' executable.
#ifndef INTERPOSE_STACKS_MAPPED_PATHS_H_
#define INTERPOSE_STACKS_MAPPED_PATHS_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

// A copy of /proc/self/maps, read when it is first asked. Zero-initialised memory is an empty one. Thread-compatible.
class MappedPaths {
 public:
  // Writes the path of the mapping that contains `address`, with a final zero: "/opt/lib.so", "/opt/lib.so (deleted)",
  // "[vdso]". Returns false if it has none, does not fit, or cannot be read.
  bool PathAt(uint64_t address, char* path, size_t capacity);
  // Frees the copy.
  void Forget();

 private:
  bool Read();

  char* text_;
  size_t bytes_, capacity_;
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_MAPPED_PATHS_H_
