// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_RANDOM_H_
#define TESTDATA_TRANSFORMER_RANDOM_H_

#include <cstdint>

namespace transformer {

// SplitMix64. It gives the same numbers with every compiler and library; the distributions of <random> do not guarantee
// that.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  // Returns a number in [0, bound). `bound` must be positive.
  int Below(int bound) { return static_cast<int>(Next() % static_cast<uint64_t>(bound)); }
  // Returns a number in [low, high], including both.
  int Between(int low, int high) { return low + Below(high - low + 1); }
  // Returns a number in [-1, 1).
  double Symmetric() { return static_cast<double>(Next() >> 11) * 0x1p-52 - 1.0; }

 private:
  uint64_t state_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_RANDOM_H_
