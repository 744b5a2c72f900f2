// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_FRAMEWORKS_PROGRAMS_C10_H_
#define TESTS_FRAMEWORKS_PROGRAMS_C10_H_

#include <cstddef>
#include <cstdint>

namespace c10 {

struct Device {
  int8_t type, index;
};

struct Told {
  int allocations, frees, failures, of_host;
  int64_t bytes;
  static Told Get();
};

#if GENERATION == 1
void reportMemoryUsageToProfiler(void* block, int64_t bytes, Device device);
#elif GENERATION == 2
void reportMemoryUsageToProfiler(void* block, int64_t bytes, int64_t given_out, int64_t reserved, Device device);
void reportOutOfMemoryToProfiler(int64_t bytes, int64_t given_out, int64_t reserved, Device device);
#elif GENERATION == 3
void reportMemoryUsageToProfiler(void* block, int64_t bytes, size_t given_out, size_t reserved, Device device);
void reportOutOfMemoryToProfiler(int64_t bytes, size_t given_out, size_t reserved, Device device);
#elif GENERATION == 4
void reportMemoryUsageToProfiler(void* block, int64_t bytes, size_t given_out, Device device, int generation);
#endif

}  // namespace c10

#endif  // TESTS_FRAMEWORKS_PROGRAMS_C10_H_
