// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_DIFF_PROGRAMS_BUFFER_H_
#define TESTS_DIFF_PROGRAMS_BUFFER_H_

#include <cstddef>
#include <cstdio>
#include <cstdlib>

extern "C" int cudaMalloc(void** memory, size_t bytes);
extern "C" int cudaFree(void* memory);

constexpr size_t kMiB = 1 << 20;

// What every allocation of the program goes through.
class Buffer {
 public:
  explicit Buffer(size_t bytes) {
    if (cudaMalloc(&memory_, bytes) != 0) std::abort();
  }
  ~Buffer() { cudaFree(memory_); }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

 private:
  void* memory_ = nullptr;
};

#endif  // TESTS_DIFF_PROGRAMS_BUFFER_H_
