// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/model.h"

#include "testdata/transformer/cross_entropy.h"
#include "testdata/transformer/embedding.h"
#include "testdata/transformer/layer_norm.h"
#include "testdata/transformer/linear.h"

namespace transformer {

Model::Model(const Config& config, const ParameterLayout& layout, const Parameters& parameters)
    : config_(config), layout_(layout), parameters_(parameters) {
  for (int layer = 0; layer < config.layers; ++layer) blocks_.emplace_back(config, layout, parameters, layer);
}

TRANSFORMER_NOINLINE Loss Model::Forward(const Batch& batch) const {
  const int dim = config_.dim;
  const size_t rows = batch.rows();
  Loss loss;
  loss.embedded = DeviceBuffer<float>(rows * dim);
  EmbeddingForward(batch.tokens.data(), batch.seq, parameters_.data(layout_.token_embedding()),
                   parameters_.data(layout_.position_embedding()), loss.embedded.data(), rows, batch.seq, /*past=*/0,
                   dim);
  const DeviceBuffer<float>* x = &loss.embedded;
  loss.blocks.reserve(blocks_.size());  // `x` points into it
  for (const Block& block : blocks_) {
    loss.blocks.push_back(block.Forward(*x, batch));
    x = &loss.blocks.back().output;
  }
  loss.norm = DeviceBuffer<float>(rows * dim);
  loss.statistics = DeviceBuffer<float>(rows * 2);
  LayerNormForward(x->data(), parameters_.data(layout_.final_gamma()), parameters_.data(layout_.final_beta()),
                   loss.norm.data(), loss.statistics.data(), rows, dim);
  loss.logits = DeviceBuffer<float>(rows * config_.vocab);
  LinearForward(loss.norm.data(), parameters_.data(layout_.head_weight()), nullptr, loss.logits.data(), rows, dim,
                config_.vocab);
  loss.row_losses = DeviceBuffer<float>(rows);
  loss.value = DeviceBuffer<float>(1);
  CrossEntropyForward(loss.logits.data(), batch.targets.data(), loss.row_losses.data(), loss.value.data(), rows,
                      config_.vocab, batch.valid);
  return loss;
}

size_t Model::BackwardScratch(const Batch& batch) const {
  return static_cast<size_t>(batch.rows()) * config_.heads * batch.seq;
}

TRANSFORMER_NOINLINE void Model::Backward(const Batch& batch, const Loss& loss, float* scratch,
                                          Gradients* gradients) const {
  const int dim = config_.dim;
  const size_t rows = batch.rows();
  DeviceBuffer<float> grad(rows * dim);
  grad.Zero();
  {
    DeviceBuffer<float> grad_logits(rows * config_.vocab);
    CrossEntropyBackward(loss.logits.data(), batch.targets.data(), grad_logits.data(), rows, config_.vocab,
                         batch.valid);
    DeviceBuffer<float> grad_norm(rows * dim);
    LinearBackward(loss.norm.data(), parameters_.data(layout_.head_weight()), grad_logits.data(), grad_norm.data(),
                   gradients->data(layout_.head_weight()), nullptr, rows, dim, config_.vocab);
    const DeviceBuffer<float>& last = blocks_.empty() ? loss.embedded : loss.blocks.back().output;
    LayerNormBackward(last.data(), parameters_.data(layout_.final_gamma()), loss.statistics.data(), grad_norm.data(),
                      grad.data(), gradients->data(layout_.final_gamma()), gradients->data(layout_.final_beta()), rows,
                      dim);
  }
  for (size_t i = blocks_.size(); i-- > 0;) {
    const DeviceBuffer<float>& input = i == 0 ? loss.embedded : loss.blocks[i - 1].output;
    blocks_[i].Backward(input, batch, loss.blocks[i], scratch, &grad, gradients);
  }
  EmbeddingBackward(batch.tokens.data(), grad.data(), gradients->data(layout_.token_embedding()),
                    gradients->data(layout_.position_embedding()), rows, batch.seq, config_.vocab, dim);
}

}  // namespace transformer
