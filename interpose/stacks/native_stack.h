// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_STACKS_NATIVE_STACK_H_
#define INTERPOSE_STACKS_NATIVE_STACK_H_

#include <cstddef>
#include <cstdint>

namespace vramtrack {

constexpr size_t kMaxFrames = 256;

struct NativeStack {
  size_t count = 0;
  bool truncated = false;
  uint64_t frames[kMaxFrames];  // return addresses, innermost first, without this library's own
};

// Fills `stack` with the calling thread's return addresses, at most `max_frames` (<= kMaxFrames). Allocates nothing and
// takes no lock but, for code it has not met before, the loader's short one for its list of objects. Not for use in a
// signal handler that may have interrupted a capture.
void CaptureNativeStack(size_t max_frames, NativeStack* stack);

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_NATIVE_STACK_H_
