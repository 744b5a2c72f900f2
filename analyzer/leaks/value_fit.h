// SPDX-License-Identifier: Apache-2.0
//
// Models how much memory a step needs for the value of its mark: tokens, sequence length, images.
#ifndef ANALYZER_LEAKS_VALUE_FIT_H_
#define ANALYZER_LEAKS_VALUE_FIT_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "analyzer/model/device.h"

namespace vramtrack {

// One step: its index, its value, and the most bytes that were live in it.
struct ValuedStep {
  double step = 0, value = 0, bytes = 0;
};

constexpr size_t kMostValuedSteps = 4000;

// Fits a line through the steps, which must be in order; of more than kMostValuedSteps, the last ones. Below its bend
// every step peaks alike, whatever its value. The reason is that a step's peak is the higher one of two moments, and
// often only one of them depends on the batch (the backward pass does, the optimizer's step does not). A trend over the
// steps, such as that of a leak, is fitted together with the line. `limit_bytes`: the most that can be live.
ReportValueFit FitValues(std::vector<ValuedStep> steps, const std::optional<double>& limit_bytes);

}  // namespace vramtrack

#endif  // ANALYZER_LEAKS_VALUE_FIT_H_
