// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_WORKSPACE_H_
#define TESTDATA_TRANSFORMER_WORKSPACE_H_

#include <cstddef>

#include "testdata/transformer/device_buffer.h"
#include "testdata/transformer/leak_plan.h"

namespace transformer {

// Scratch memory that is kept between steps and grows when a step needs more. `plan` must outlive this object.
class Workspace {
 public:
  explicit Workspace(LeakPlan* plan) : plan_(plan) {}

  // Returns memory for at least `count` values, which is valid until the next call.
  float* Reserve(size_t count);

 private:
  LeakPlan* const plan_;
  DeviceBuffer<float> buffer_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_WORKSPACE_H_
