// SPDX-License-Identifier: Apache-2.0
//
// Confidence intervals of estimates that make no assumption about the distribution of the values, and corrections for
// testing thousands of sites at once: some look like leaks by chance.
#ifndef ANALYZER_LEAKS_STATISTICS_H_
#define ANALYZER_LEAKS_STATISTICS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace vramtrack {

struct Interval {
  double low = 0, high = 0;
};

// Returns the 95 % interval of the mean of `values`, by the circular block bootstrap in blocks of `block` neighbours
// (at least 1), so that dependent neighbours do not make it look more certain than it is. The interval of equal values
// has width zero. Equal input gives equal output.
Interval BootstrapMean(const std::vector<double>& values, uint32_t block);

// Returns which hypotheses to reject so that on average at most the share `false_discovery_rate` of the rejected ones
// is true (the Benjamini-Hochberg procedure). The result has the order of `p_values`.
std::vector<bool> BenjaminiHochberg(const std::vector<double>& p_values, double false_discovery_rate);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_STATISTICS_H_
