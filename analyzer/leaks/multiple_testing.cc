// SPDX-License-Identifier: Apache-2.0
#include "analyzer/leaks/multiple_testing.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace vramtrack {

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

double PoissonTail(double mean, unsigned long long count) {
  if (count == 0) return 1;
  // Summed upwards from `count`: the terms of interest are tiny, and one minus the rest would lose them.
  const double first = static_cast<double>(count);
  int sign;  // lgamma() has a global one, which threads would share
  double term = std::exp(first * std::log(mean) - mean - lgamma_r(first + 1, &sign));
  double sum = 0;
  for (double k = first + 1; term > 0 && (k <= mean || term > sum * 1e-17); ++k) {
    sum += term;
    term *= mean / k;
  }
  return std::min(1.0, sum + term);
}

}  // namespace vramtrack
