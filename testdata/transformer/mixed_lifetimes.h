// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_MIXED_LIFETIMES_H_
#define TESTDATA_TRANSFORMER_MIXED_LIFETIMES_H_

#include <cstdint>
#include <vector>

#include "testdata/transformer/device_buffer.h"

namespace transformer {

// Fragments memory without leaking, as a server with many requests does: allocates buffers of very different sizes that
// live one to kLongestLife steps.
class MixedLifetimes {
 public:
  static constexpr int kLongestLife = 16;  // steps
  static constexpr int kBuffersPerStep = 4;

  explicit MixedLifetimes(uint64_t seed) : seed_(seed) {}

  // Frees the buffers whose time is over and allocates those of the step.
  void Step(uint64_t step);

 private:
  struct Mortal {
    uint64_t last_step;
    DeviceBuffer<char> buffer;
  };

  const uint64_t seed_;
  std::vector<Mortal> mortals_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_MIXED_LIFETIMES_H_
