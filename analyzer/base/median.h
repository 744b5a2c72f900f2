// SPDX-License-Identifier: Apache-2.0
#ifndef ANALYZER_BASE_MEDIAN_H_
#define ANALYZER_BASE_MEDIAN_H_

#include <algorithm>
#include <cstddef>
#include <vector>

namespace vramtrack {

// Returns the middle value; of two the higher one. `values` must not be empty.
template <class T>
T UpperMedian(std::vector<T> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

// Returns the middle value; of two their mean. `values` must not be empty.
inline double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return values.size() % 2 == 1 ? *middle : (*std::max_element(values.begin(), middle) + *middle) / 2;
}

}  // namespace vramtrack

#endif  // ANALYZER_BASE_MEDIAN_H_
