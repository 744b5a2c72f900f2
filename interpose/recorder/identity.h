// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_IDENTITY_H_
#define INTERPOSE_RECORDER_IDENTITY_H_

#include <cstdint>

namespace vramtrack {

// The identity of an allocation in a trace: the thread that made it, and the number of allocations that this thread had
// made before. Tables hold it packed into one word, which is never 0.
struct Identity {
  static constexpr int kOrdinalBits = 40;
  static constexpr uint64_t kUsedBit = uint64_t{1} << 63;

  static constexpr Identity Of(uint64_t packed) {
    return {static_cast<uint32_t>((packed & ~kUsedBit) >> kOrdinalBits), packed & ((uint64_t{1} << kOrdinalBits) - 1)};
  }
  constexpr uint64_t packed() const { return kUsedBit | static_cast<uint64_t>(thread) << kOrdinalBits | ordinal; }

  uint32_t thread;
  uint64_t ordinal;
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_IDENTITY_H_
