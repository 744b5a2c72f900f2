// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_OPTIMIZER_H_
#define TESTDATA_TRANSFORMER_OPTIMIZER_H_

#include <cstdint>
#include <vector>

#include "testdata/transformer/device_buffer.h"
#include "testdata/transformer/parameters.h"

namespace transformer {

struct AdamOptions {
  float learning_rate = 3e-3f;
  float beta1 = 0.9f;
  float beta2 = 0.999f;
  float epsilon = 1e-8f;
};

// The Adam optimizer with bias correction. The constructor allocates its two moments; with `lazy` the first Step does.
class Adam {
 public:
  Adam(const ParameterLayout& layout, const AdamOptions& options, bool lazy);

  void Step(const Gradients& gradients, Parameters* parameters);

 private:
  void AllocateState();

  const ParameterLayout layout_;
  const AdamOptions options_;
  uint64_t steps_ = 0;
  std::vector<DeviceBuffer<float>> moment1_;
  std::vector<DeviceBuffer<float>> moment2_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_OPTIMIZER_H_
