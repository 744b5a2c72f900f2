// SPDX-License-Identifier: Apache-2.0
//
// Corrections for testing thousands of sites at once: some look like leaks by chance.
#ifndef ANALYZER_LEAKS_MULTIPLE_TESTING_H_
#define ANALYZER_LEAKS_MULTIPLE_TESTING_H_

#include <vector>

namespace vramtrack {

constexpr double kFalseDiscoveryRate = 0.01;

// Returns which hypotheses to reject so that on average at most the share `false_discovery_rate` of the rejected ones
// is true (the Benjamini-Hochberg procedure). The result has the order of `p_values`.
std::vector<bool> BenjaminiHochberg(const std::vector<double>& p_values,
                                    double false_discovery_rate = kFalseDiscoveryRate);

// Returns P(X >= count) for a Poisson distribution with this mean.
double PoissonTail(double mean, unsigned long long count);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_MULTIPLE_TESTING_H_
