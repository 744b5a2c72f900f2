// SPDX-License-Identifier: Apache-2.0
//
// How sure a mean is, without assuming how its values are distributed.
#ifndef ANALYZER_LEAKS_BOOTSTRAP_H_
#define ANALYZER_LEAKS_BOOTSTRAP_H_

#include <cstdint>
#include <vector>

namespace vramtrack {

struct Interval {
  double low = 0, high = 0;
};

// The 95 % interval of the mean of `values` by the circular block bootstrap: blocks of `block` neighbours (at least 1)
// are drawn, so that values that depend on their neighbours do not look more certain than they are. The draws have a
// fixed seed: equal input gives equal output. Values that are all equal give an interval of width zero.
Interval BootstrapMean(const std::vector<double>& values, uint32_t block);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_BOOTSTRAP_H_
