// SPDX-License-Identifier: Apache-2.0
//
// The types of PyTorch that hooks pass through.
#ifndef INTERPOSE_FRAMEWORKS_TORCH_ABI_H_
#define INTERPOSE_FRAMEWORKS_TORCH_ABI_H_

#include <cstdint>

namespace vramtrack::torch {

// c10::Device: two bytes, passed in a register, of which the rest is undefined.
struct Device {
  int8_t type;   // c10::DeviceType
  int8_t index;  // -1: the current one
};
constexpr int8_t kCuda = 1;  // of ROCm's devices as well, as PyTorch sees them

}  // namespace vramtrack::torch

#endif  // INTERPOSE_FRAMEWORKS_TORCH_ABI_H_
