// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_DIFF_PROGRAMS_LAYERS_H_
#define TESTS_DIFF_PROGRAMS_LAYERS_H_

#include <memory>
#include <vector>

#include "buffer.h"

using Buffers = std::vector<std::unique_ptr<Buffer>>;

// A layer's forward pass; what it saves for the backward pass goes to `saved`.
struct Attention {
  void Forward(Buffers* saved);
  Buffers kept;
};

struct Mlp {
  void Forward(Buffers* saved);
};

template <typename T>
void Normalize(size_t values, Buffers* saved) {
  saved->push_back(std::make_unique<Buffer>(values * sizeof(float)));  // @normalize
  const Buffer scratch(2 * values * sizeof(float));                    // @normalize_scratch
}

#endif  // TESTS_DIFF_PROGRAMS_LAYERS_H_
