// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vramtrack {
namespace {

constexpr size_t kResamples = 999;
// Of the sorted resamples, those that cut off 2.5 % on either side.
constexpr size_t kLowRank = 24, kHighRank = 974;

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). The standard library's distributions differ between implementations.
size_t Below(size_t bound, uint64_t* state) {
  *state += 0x9E3779B97F4A7C15u;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<size_t>(z % bound);
}

}  // namespace

Interval BootstrapMean(const std::vector<double>& values, uint32_t block) {
  const size_t n = values.size();
  if (n == 0) return {};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  if (*least == *greatest) return {*least, *least};

  const size_t length = std::clamp<size_t>(block, 1, n), blocks = (n + length - 1) / length;
  // Sums of blocks that wrap around: every value is equally likely to be drawn.
  std::vector<double> prefix(n + length + 1, 0);
  for (size_t i = 0; i < n + length; ++i) prefix[i + 1] = prefix[i] + values[i % n];
  const double mean = prefix[n] / static_cast<double>(n);

  uint64_t state = 0x76726D74;
  std::vector<double> means(kResamples);
  for (double& resampled : means) {
    double sum = 0;
    for (size_t i = 0; i < blocks; ++i) {
      const size_t begin = Below(n, &state);
      sum += prefix[begin + length] - prefix[begin];
    }
    resampled = sum / static_cast<double>(blocks * length);
  }
  std::sort(means.begin(), means.end());
  // Resampling m blocks measures the spread of m values about their own mean, whose variance is too small by
  // (m - 1) / m. Its normal quantiles also ignore that the spread is itself an estimate (Student's t, to second order).
  const auto m = static_cast<double>(blocks);
  const double widen = blocks > 1 ? std::sqrt(m / (m - 1)) * (1 + 1.21 / (m - 1)) : 1;
  return {mean - widen * (mean - means[kLowRank]), mean + widen * (means[kHighRank] - mean)};
}

std::vector<bool> BenjaminiHochberg(const std::vector<double>& p_values, double false_discovery_rate) {
  std::vector<size_t> order(p_values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return p_values[a] != p_values[b] ? p_values[a] < p_values[b] : a < b; });
  const double tests = static_cast<double>(p_values.size());
  size_t rejected = 0;
  for (size_t rank = 1; rank <= order.size(); ++rank) {
    if (p_values[order[rank - 1]] <= false_discovery_rate * static_cast<double>(rank) / tests) rejected = rank;
  }
  std::vector<bool> rejections(p_values.size(), false);
  for (size_t rank = 0; rank < rejected; ++rank) rejections[order[rank]] = true;
  return rejections;
}

}  // namespace vramtrack
