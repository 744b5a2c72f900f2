// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/native_stack.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>

// Bounds of this library's own image, from the linker.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
}

namespace vramtrack {
namespace {

constexpr size_t kOwnFrames = 8;

bool Own(void* address) {
  const auto* at = static_cast<const char*>(address);
  return at >= __ehdr_start && at < etext;
}

}  // namespace

void CaptureNativeStack(size_t max_frames, NativeStack* stack) {
  // unw_backtrace keeps a trace cache per thread: 16 times cheaper than stepping a cursor.
  void* raw[kMaxFrames + kOwnFrames + 1];
  const int captured = unw_backtrace(raw, static_cast<int>(max_frames + kOwnFrames + 1));
  size_t count = captured < 0 ? 0 : static_cast<size_t>(captured);
  size_t first = 0;
  while (first < count && first < kOwnFrames && Own(raw[first])) ++first;
  while (count > first && raw[count - 1] == nullptr) --count;  // the end mark of some start-up code
  count -= first;
  stack->truncated = count > max_frames;
  stack->count = stack->truncated ? max_frames : count;
  for (size_t i = 0; i < stack->count; ++i) stack->frames[i] = reinterpret_cast<uint64_t>(raw[first + i]);
}

}  // namespace vramtrack
