// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_SESSION_PUSHED_DEVICES_H_
#define INTERPOSE_SESSION_PUSHED_DEVICES_H_

#include <cstdint>

namespace vramtrack {

// The devices below a thread's current one, as the driver's stack of contexts has them. Keeps the first few and counts
// the others. Plain data; zero-initialised memory is an empty stack.
struct PushedDevices {
  static constexpr uint32_t kKept = 7;

  uint32_t count;
  uint8_t kept[kKept];

  void Push(uint32_t device) {
    if (count < kKept) kept[count] = static_cast<uint8_t>(device);
    ++count;
  }
  // Removes the top. Returns true and sets `device` if it was kept.
  bool Pop(uint32_t* device) {
    if (count == 0 || --count >= kKept) return false;
    *device = kept[count];
    return true;
  }
};

}  // namespace vramtrack

#endif  // INTERPOSE_SESSION_PUSHED_DEVICES_H_
