// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_ELEMENTWISE_H_
#define TESTDATA_TRANSFORMER_ELEMENTWISE_H_

#include <cstddef>

namespace transformer {

// Computes output = a + b for `count` values on the device.
void Add(const float* a, const float* b, float* output, size_t count);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_ELEMENTWISE_H_
