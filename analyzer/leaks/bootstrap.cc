// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/bootstrap.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace vramtrack {
namespace {

constexpr size_t kResamples = 999;
// Of the sorted resamples, those that cut off 2.5 % on either side.
constexpr size_t kLowRank = 24, kHighRank = 974;

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). The standard library's distributions differ between implementations.
class Draws {
 public:
  size_t Below(size_t bound) {
    state_ += 0x9E3779B97F4A7C15u;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return static_cast<size_t>(z % bound);
  }

 private:
  uint64_t state_ = 0x76726D74;
};

}  // namespace

Interval BootstrapMean(const std::vector<double>& values, uint32_t block) {
  const size_t n = values.size();
  if (n == 0) return {};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  if (*least == *greatest) return {*least, *least};

  const size_t length = std::clamp<size_t>(block, 1, n);
  const size_t blocks = (n + length - 1) / length;
  // Sums of blocks that wrap around: every value is equally likely to be drawn.
  std::vector<double> prefix(n + length + 1, 0);
  for (size_t i = 0; i < n + length; ++i) prefix[i + 1] = prefix[i] + values[i % n];
  const double mean = prefix[n] / static_cast<double>(n);

  Draws draws;
  std::vector<double> means(kResamples);
  for (double& resampled : means) {
    double sum = 0;
    for (size_t i = 0; i < blocks; ++i) {
      const size_t begin = draws.Below(n);
      sum += prefix[begin + length] - prefix[begin];
    }
    resampled = sum / static_cast<double>(blocks * length);
  }
  std::sort(means.begin(), means.end());

  // Resampling m blocks shows the spread of m values about their own mean, which is too small by (m - 1) / m, and its
  // normal quantiles ignore that the spread is itself an estimate (Student's t, to second order).
  const double m = static_cast<double>(blocks);
  const double widen = blocks > 1 ? std::sqrt(m / (m - 1)) * (1 + 1.21 / (m - 1)) : 1;
  return {mean - widen * (mean - means[kLowRank]), mean + widen * (means[kHighRank] - mean)};
}

}  // namespace vramtrack
