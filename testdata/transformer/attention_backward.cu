// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/attention.h"
#include "testdata/transformer/attention_kernels.h"
#include "testdata/transformer/linear.h"

namespace transformer {
namespace {

// scores [batch, heads, queries, keys]: the gradient of the scaled scores. A thread is one row.
struct ScoreGradientKernel {
  AttentionShape shape;
  HeadView value;
  const float* weights;
  const float* grad_context;
  float* grad_scores;

  HOST_DEVICE void operator()(int64_t index) const {
    const int keys = shape.keys();
    const int64_t i = index % shape.queries;
    const int64_t h = index / shape.queries % shape.heads;
    const int64_t b = index / shape.queries / shape.heads;
    const float* g = grad_context + (b * shape.queries + i) * shape.dim() + h * shape.head_dim;
    const float* w = weights + index * keys;
    float* row = grad_scores + index * keys;
    float dot = 0.0f;
    for (int j = 0; j < keys; ++j) {
      const float* v = value.at(b, j, h, shape.head_dim);
      float grad_weight = 0.0f;
      for (int d = 0; d < shape.head_dim; ++d) grad_weight += g[d] * v[d];
      row[j] = grad_weight;
      dot += grad_weight * w[j];
    }
    for (int j = 0; j < keys; ++j) row[j] = w[j] * (row[j] - dot) * shape.scale();
  }
};

// grad_qkv [rows, 3 * dim], laid out as qkv. A thread is one value of one token for query, key and value alike.
struct QkvGradientKernel {
  AttentionShape shape;
  HeadView query, key;
  const float* weights;
  const float* grad_scores;
  const float* grad_context;
  float* grad_qkv;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t d = index % shape.head_dim;
    const int64_t h = index / shape.head_dim % shape.heads;
    const int64_t t = index / shape.dim() % shape.queries;
    const int64_t b = index / shape.dim() / shape.queries;
    const int64_t square = (b * shape.heads + h) * shape.queries * shape.queries;
    float grad_query = 0.0f;
    for (int64_t j = 0; j <= t; ++j) {
      grad_query += grad_scores[square + t * shape.queries + j] * key.at(b, j, h, shape.head_dim)[d];
    }
    float grad_key = 0.0f;
    float grad_value = 0.0f;
    for (int64_t i = t; i < shape.queries; ++i) {
      grad_key += grad_scores[square + i * shape.queries + t] * query.at(b, i, h, shape.head_dim)[d];
      grad_value += weights[square + i * shape.queries + t] *
                    grad_context[(b * shape.queries + i) * shape.dim() + h * shape.head_dim + d];
    }
    float* out = grad_qkv + (b * shape.queries + t) * 3 * shape.dim() + h * shape.head_dim + d;
    out[0] = grad_query;
    out[shape.dim()] = grad_key;
    out[2 * shape.dim()] = grad_value;
  }
};

}  // namespace

TRANSFORMER_NOINLINE DeviceBuffer<float> Attention::Backward(const DeviceBuffer<float>& input, const Batch& batch,
                                                             const AttentionActivations& saved,
                                                             const DeviceBuffer<float>& grad_output, float* scratch,
                                                             Gradients* gradients) const {
  const int dim = config_.dim;
  const size_t rows = batch.rows();
  const AttentionShape shape = {batch.batch, config_.heads, batch.seq, /*past=*/0, config_.head_dim()};

  DeviceBuffer<float> grad_context(rows * dim);
  LinearBackward(saved.context.data(), Value(kProjectWeight), grad_output.data(), grad_context.data(),
                 gradients->data(Index(kProjectWeight)), gradients->data(Index(kProjectBias)), rows, dim, dim);

  const int64_t row_stride = 3 * dim;
  const int64_t sequence_stride = row_stride * batch.seq;
  const HeadView query = {saved.qkv.data(), sequence_stride, row_stride};
  const HeadView key = {saved.qkv.data() + dim, sequence_stride, row_stride};
  const HeadView value = {saved.qkv.data() + 2 * dim, sequence_stride, row_stride};
  Launch(rows * config_.heads, ScoreGradientKernel{shape, value, saved.weights.data(), grad_context.data(), scratch});
  DeviceBuffer<float> grad_qkv(rows * 3 * dim);
  Launch(rows * dim,
         QkvGradientKernel{shape, query, key, saved.weights.data(), scratch, grad_context.data(), grad_qkv.data()});

  DeviceBuffer<float> grad_input(rows * dim);
  LinearBackward(input.data(), Value(kQkvWeight), grad_qkv.data(), grad_input.data(),
                 gradients->data(Index(kQkvWeight)), gradients->data(Index(kQkvBias)), rows, dim, 3 * dim);
  return grad_input;
}

}  // namespace transformer
