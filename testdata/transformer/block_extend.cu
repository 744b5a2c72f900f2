// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/block.h"
#include "testdata/transformer/elementwise.h"
#include "testdata/transformer/layer_norm.h"

namespace transformer {

TRANSFORMER_NOINLINE DeviceBuffer<float> Block::Extend(const DeviceBuffer<float>& input, const float* mask, int count,
                                                       float* scratch, KvCache* cache,
                                                       DeviceBuffer<float>* weights) const {
  const int dim = config_.dim;
  const size_t rows = static_cast<size_t>(cache->batch()) * count;
  DeviceBuffer<float> norm(rows * dim);
  DeviceBuffer<float> statistics(rows * 2);
  LayerNormForward(input.data(), Value(kNorm1Gamma), Value(kNorm1Beta), norm.data(), statistics.data(), rows, dim);
  const DeviceBuffer<float> attended = attention_.Extend(norm, mask, count, cache, weights);
  DeviceBuffer<float> residual(rows * dim);
  Add(input.data(), attended.data(), residual.data(), rows * dim);

  LayerNormForward(residual.data(), Value(kNorm2Gamma), Value(kNorm2Beta), norm.data(), statistics.data(), rows, dim);
  const DeviceBuffer<float> transformed = mlp_.Infer(norm, scratch);
  DeviceBuffer<float> output(rows * dim);
  Add(residual.data(), transformed.data(), output.data(), rows * dim);
  return output;
}

}  // namespace transformer
