// SPDX-License-Identifier: Apache-2.0
#include "layers.h"

namespace {

void Softmax(Buffers* saved) {
  saved->push_back(std::make_unique<Buffer>(3 * kMiB));  // @softmax
}

void Project(size_t bytes, Buffers* saved) {
  saved->push_back(std::make_unique<Buffer>(bytes));  // @project
}

}  // namespace

void Attention::Forward(Buffers* saved) {
  const Buffer queries(2 * kMiB);  // @queries
  const Buffer keys(4 * kMiB);     // @keys
  const Buffer values(2 * kMiB);   // @values
  Softmax(saved);                  // @attention_softmax
  Project(5 * kMiB, saved);        // @attention_project
  const auto fused = [&] {
    const Buffer workspace(6 * kMiB);  // @fused
  };
  fused();
  // LEAK goes here
}

void Mlp::Forward(Buffers* saved) {
  Normalize<float>(kMiB / 2, saved);  // @mlp_normalize
  // The two halves.
  const Buffer up(8 * kMiB);    // @up
  Project(7 * kMiB, saved);     // @mlp_project
  const Buffer down(9 * kMiB);  // @down
}
