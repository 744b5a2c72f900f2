// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/elementwise.h"

#include "testdata/transformer/launch.h"

namespace transformer {
namespace {

struct AddKernel {
  const float* a;
  const float* b;
  float* output;

  HOST_DEVICE void operator()(int64_t i) const { output[i] = a[i] + b[i]; }
};

}  // namespace

void Add(const float* a, const float* b, float* output, size_t count) { Launch(count, AddKernel{a, b, output}); }

}  // namespace transformer
