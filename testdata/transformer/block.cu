// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/block.h"

#include "testdata/transformer/elementwise.h"
#include "testdata/transformer/layer_norm.h"

namespace transformer {

Block::Block(const Config& config, const ParameterLayout& layout, const Parameters& parameters, int layer)
    : config_(config),
      layout_(layout),
      parameters_(parameters),
      layer_(layer),
      attention_(config, layout, parameters, layer),
      mlp_(config, layout, parameters, layer) {}

TRANSFORMER_NOINLINE BlockActivations Block::Forward(const DeviceBuffer<float>& input, const Batch& batch) const {
  const int dim = config_.dim;
  const size_t rows = batch.rows();
  BlockActivations saved;

  saved.norm1 = DeviceBuffer<float>(rows * dim);
  saved.statistics1 = DeviceBuffer<float>(rows * 2);
  LayerNormForward(input.data(), Value(kNorm1Gamma), Value(kNorm1Beta), saved.norm1.data(), saved.statistics1.data(),
                   rows, dim);
  const DeviceBuffer<float> attended = attention_.Forward(saved.norm1, batch, &saved.attention);
  saved.residual = DeviceBuffer<float>(rows * dim);
  Add(input.data(), attended.data(), saved.residual.data(), rows * dim);

  saved.norm2 = DeviceBuffer<float>(rows * dim);
  saved.statistics2 = DeviceBuffer<float>(rows * 2);
  LayerNormForward(saved.residual.data(), Value(kNorm2Gamma), Value(kNorm2Beta), saved.norm2.data(),
                   saved.statistics2.data(), rows, dim);
  const DeviceBuffer<float> transformed = mlp_.Forward(saved.norm2, &saved.mlp);
  saved.output = DeviceBuffer<float>(rows * dim);
  Add(saved.residual.data(), transformed.data(), saved.output.data(), rows * dim);
  return saved;
}

TRANSFORMER_NOINLINE void Block::Backward(const DeviceBuffer<float>& input, const Batch& batch,
                                          const BlockActivations& saved, float* scratch, DeviceBuffer<float>* grad,
                                          Gradients* gradients) const {
  const int dim = config_.dim;
  const int rows = batch.rows();
  // The residual path keeps `grad` as it is; each norm adds its branch's share.
  const DeviceBuffer<float> grad_norm2 = mlp_.Backward(saved.norm2, saved.mlp, *grad, gradients);
  LayerNormBackward(saved.residual.data(), Value(kNorm2Gamma), saved.statistics2.data(), grad_norm2.data(),
                    grad->data(), gradients->data(Index(kNorm2Gamma)), gradients->data(Index(kNorm2Beta)), rows, dim);
  const DeviceBuffer<float> grad_norm1 =
      attention_.Backward(saved.norm1, batch, saved.attention, *grad, scratch, gradients);
  LayerNormBackward(input.data(), Value(kNorm1Gamma), saved.statistics1.data(), grad_norm1.data(), grad->data(),
                    gradients->data(Index(kNorm1Gamma)), gradients->data(Index(kNorm1Beta)), rows, dim);
}

}  // namespace transformer
