// SPDX-License-Identifier: Apache-2.0
//
// Thousands of sites are tested at once; some look like leaks by chance.
#ifndef ANALYZER_LEAKS_MULTIPLE_TESTING_H_
#define ANALYZER_LEAKS_MULTIPLE_TESTING_H_

#include <vector>

namespace vramtrack {

constexpr double kFalseDiscoveryRate = 0.01;

// Benjamini and Hochberg's procedure: which of the hypotheses to reject so that of the rejected ones at most
// `false_discovery_rate` are true on average. Same order as `p_values`.
std::vector<bool> BenjaminiHochberg(const std::vector<double>& p_values,
                                    double false_discovery_rate = kFalseDiscoveryRate);

// P(X >= count) of a Poisson distribution.
double PoissonTail(double mean, unsigned long long count);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_MULTIPLE_TESTING_H_
