// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vramtrack {
namespace {

// Of the sorted resamples, those that cut off 2.5 % on either side.
constexpr size_t kLowRank = 24, kHighRank = 974;

}  // namespace

BlockDraws::BlockDraws(size_t values, uint32_t block)
    : values_(values),
      length_(std::clamp<size_t>(block, 1, values)),
      blocks_((values + length_ - 1) / length_),
      begins_(blocks_) {}

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014). The standard library's distributions differ between implementations.
size_t BlockDraws::Below(size_t bound) {
  state_ += 0x9E3779B97F4A7C15u;
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  z ^= z >> 31;
  return static_cast<size_t>(z % bound);
}

const std::vector<size_t>& BlockDraws::Next() {
  for (size_t& begin : begins_) begin = Below(values_);
  return begins_;
}

double BlockDraws::widening() const {
  const double m = static_cast<double>(blocks_);
  return blocks_ > 1 ? std::sqrt(m / (m - 1)) * (1 + 1.21 / (m - 1)) : 1;
}

Interval MiddleOf(std::vector<double>* resampled) {
  std::sort(resampled->begin(), resampled->end());
  return {(*resampled)[kLowRank], (*resampled)[kHighRank]};
}

Interval BootstrapMean(const std::vector<double>& values, uint32_t block) {
  const size_t n = values.size();
  if (n == 0) return {};
  const auto [least, greatest] = std::minmax_element(values.begin(), values.end());
  if (*least == *greatest) return {*least, *least};

  BlockDraws draws(n, block);
  const size_t length = draws.length();
  // Sums of blocks that wrap around: every value is equally likely to be drawn.
  std::vector<double> prefix(n + length + 1, 0);
  for (size_t i = 0; i < n + length; ++i) prefix[i + 1] = prefix[i] + values[i % n];
  const double mean = prefix[n] / static_cast<double>(n);

  std::vector<double> means(BlockDraws::kResamples);
  for (double& resampled : means) {
    double sum = 0;
    for (const size_t begin : draws.Next()) sum += prefix[begin + length] - prefix[begin];
    resampled = sum / static_cast<double>(draws.blocks() * length);
  }
  const Interval middle = MiddleOf(&means);
  const double widen = draws.widening();
  return {mean - widen * (mean - middle.low), mean + widen * (middle.high - mean)};
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
