// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "testdata/transformer/attention.h"
#include "testdata/transformer/attention_kernels.h"
#include "testdata/transformer/linear.h"

namespace transformer {
namespace {

// Copies keys and values of `count` tokens of each sequence from qkv [batch, count, 3 * dim] behind the `past` ones in
// the cache. A thread is one value of each.
struct AppendKernel {
  const float* qkv;
  float* keys;
  float* values;
  int count, past, capacity, dim;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t d = index % dim;
    const int64_t t = index / dim % count;
    const int64_t b = index / dim / count;
    const float* from = qkv + (b * count + t) * 3 * dim + d;
    const int64_t to = (b * capacity + past + t) * dim + d;
    keys[to] = from[dim];
    values[to] = from[2 * dim];
  }
};

}  // namespace

TRANSFORMER_NOINLINE DeviceBuffer<float> Attention::Extend(const DeviceBuffer<float>& input, const float* mask,
                                                           int count, KvCache* cache,
                                                           DeviceBuffer<float>* weights) const {
  const int dim = config_.dim;
  const size_t rows = static_cast<size_t>(cache->batch()) * count;
  const AttentionShape shape = {cache->batch(), config_.heads, count, cache->length(), config_.head_dim()};

  DeviceBuffer<float> qkv(rows * 3 * dim);
  LinearForward(input.data(), Value(kQkvWeight), Value(kQkvBias), qkv.data(), rows, dim, 3 * dim);
  Launch(rows * dim, AppendKernel{qkv.data(), cache->keys(layer_), cache->values(layer_), count, cache->length(),
                                  cache->capacity(), dim});

  const int64_t cache_stride = int64_t{cache->capacity()} * dim;
  const HeadView query = {qkv.data(), int64_t{count} * 3 * dim, int64_t{3} * dim};
  const HeadView key = {cache->keys(layer_), cache_stride, dim};
  const HeadView value = {cache->values(layer_), cache_stride, dim};
  *weights = DeviceBuffer<float>(rows * config_.heads * shape.keys());
  Launch(rows * config_.heads, AttentionWeightsKernel{shape, query, key, mask, weights->data()});
  DeviceBuffer<float> context(rows * dim);
  Launch(rows * dim, AttentionContextKernel{shape, value, weights->data(), context.data()});

  DeviceBuffer<float> output(rows * dim);
  LinearForward(context.data(), Value(kProjectWeight), Value(kProjectBias), output.data(), rows, dim, dim);
  return output;
}

}  // namespace transformer
