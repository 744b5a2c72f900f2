// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "testdata/transformer/embedding.h"
#include "testdata/transformer/launch.h"
#include "testdata/transformer/layer_norm.h"
#include "testdata/transformer/linear.h"
#include "testdata/transformer/model.h"

namespace transformer {
namespace {

// The last of `count` rows of each sequence.
struct LastRowKernel {
  const float* rows;
  float* last;
  int count, dim;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t row = index / dim * count + count - 1;
    last[index] = rows[row * dim + index % dim];
  }
};

}  // namespace

size_t Model::ExtendScratch(int count) const {
  return static_cast<size_t>(config_.batch) * count * config_.hidden_dim();
}

TRANSFORMER_NOINLINE DeviceBuffer<float> Model::Extend(const int32_t* tokens, int stride, const float* mask, int count,
                                                       float* scratch, KvCache* cache,
                                                       std::vector<DeviceBuffer<float>>* weights) const {
  const int dim = config_.dim;
  const size_t batch = cache->batch();
  const size_t rows = batch * count;
  DeviceBuffer<float> x(rows * dim);
  EmbeddingForward(tokens, stride, parameters_.data(layout_.token_embedding()),
                   parameters_.data(layout_.position_embedding()), x.data(), rows, count, cache->length(), dim);
  for (const Block& block : blocks_) {
    DeviceBuffer<float> layer_weights;
    x = block.Extend(x, mask, count, scratch, cache, &layer_weights);
    if (weights != nullptr) weights->push_back(std::move(layer_weights));
  }
  cache->Advance(count);

  DeviceBuffer<float> last(batch * dim);
  Launch(batch * dim, LastRowKernel{x.data(), last.data(), count, dim});
  DeviceBuffer<float> norm(batch * dim);
  DeviceBuffer<float> statistics(batch * 2);
  LayerNormForward(last.data(), parameters_.data(layout_.final_gamma()), parameters_.data(layout_.final_beta()),
                   norm.data(), statistics.data(), batch, dim);
  DeviceBuffer<float> logits(batch * config_.vocab);
  LinearForward(norm.data(), parameters_.data(layout_.head_weight()), nullptr, logits.data(), batch, dim,
                config_.vocab);
  return logits;
}

}  // namespace transformer
