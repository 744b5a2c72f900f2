// SPDX-License-Identifier: Apache-2.0
//
// A profiler of fills, in the order of NVIDIA's samples: kinds first, then the callbacks.
#ifndef TESTS_CUPTI_PROGRAMS_OTHER_PROFILER_H_
#define TESTS_CUPTI_PROGRAMS_OTHER_PROFILER_H_

#include <atomic>

#include "tests/cupti/programs/rounds.h"

namespace other_profiler {

constexpr uint32_t kFill = 2;  // CUPTI_ACTIVITY_KIND_MEMSET

struct Functions {
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityFlushAll) flush;
  decltype(&cuptiActivityGetNextRecord) next;
};
inline Functions functions;
inline std::atomic<int> fills{0}, others{0}, strange_buffers{0};
inline uint8_t* own_buffer;

inline void Request(uint8_t** buffer, size_t* bytes, size_t* most) {
  constexpr size_t kBytes = 1 << 20;
  *buffer = own_buffer = static_cast<uint8_t*>(aligned_alloc(64, kBytes));
  *bytes = kBytes;
  *most = 0;
}

inline void Complete(void*, uint32_t, uint8_t* buffer, size_t, size_t valid_bytes) {
  if (buffer != own_buffer) ++strange_buffers;
  void* record = nullptr;
  while (functions.next(buffer, valid_bytes, &record) == 0) {
    ++(*static_cast<uint32_t*>(record) == kFill ? fills : others);
  }
}

inline bool Start(const Functions& with) {
  functions = with;
  return functions.enable(kFill) == 0 && functions.register_callbacks(Request, Complete) == 0;
}

// Prints what it got.
inline void Stop() {
  functions.flush(1);
  printf("%d fills, %d others, %d strange buffers\n", fills.load(), others.load(), strange_buffers.load());
}

}  // namespace other_profiler

#endif  // TESTS_CUPTI_PROGRAMS_OTHER_PROFILER_H_
