// SPDX-License-Identifier: Apache-2.0
//
// A stand-in for libc10: the functions that PyTorch's allocators report to, under the names of one generation. Keeps
// what it was told, so that a program can see that nothing was lost on the way.
#include "tests/frameworks/programs/c10.h"

namespace c10 {
namespace {
Told told;
}
Told Told::Get() { return told; }

static void Note(int64_t bytes, Device device) {
  if (device.type != 1) {
    ++told.of_host;
  } else {
    ++(bytes > 0 ? told.allocations : told.frees);
    told.bytes += bytes;
  }
}

#if GENERATION == 1
void reportMemoryUsageToProfiler(void*, int64_t bytes, Device device) { Note(bytes, device); }
#elif GENERATION == 2
void reportMemoryUsageToProfiler(void*, int64_t bytes, int64_t, int64_t, Device device) { Note(bytes, device); }
void reportOutOfMemoryToProfiler(int64_t, int64_t, int64_t, Device) { ++told.failures; }
#elif GENERATION == 3
void reportMemoryUsageToProfiler(void*, int64_t bytes, size_t, size_t, Device device) { Note(bytes, device); }
void reportOutOfMemoryToProfiler(int64_t, size_t, size_t, Device) { ++told.failures; }
#else  // one to come
void reportMemoryUsageToProfiler(void*, int64_t bytes, size_t, Device device, int) { Note(bytes, device); }
#endif
}  // namespace c10
