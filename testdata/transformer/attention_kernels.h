// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_ATTENTION_KERNELS_H_
#define TESTDATA_TRANSFORMER_ATTENTION_KERNELS_H_

#include <cmath>
#include <cstdint>

#include "testdata/transformer/launch.h"

namespace transformer {

// Queries, keys or values of several heads in a larger array. Those of sequence b, token t and head h begin at
// data[b * sequence_stride + t * row_stride + h * head_dim].
struct HeadView {
  const float* data;
  int64_t sequence_stride;
  int64_t row_stride;

  HOST_DEVICE const float* at(int64_t b, int64_t t, int64_t h, int head_dim) const {
    return data + b * sequence_stride + t * row_stride + h * head_dim;
  }
};

// The sizes of a batch of queries, each with the keys up to it. Query i of a sequence is its token past + i.
struct AttentionShape {
  int batch, heads, queries, past, head_dim;

  HOST_DEVICE int keys() const { return past + queries; }
  HOST_DEVICE int dim() const { return heads * head_dim; }
  // 1 / sqrt(head_dim).
  HOST_DEVICE float scale() const { return 1.0f / sqrtf(static_cast<float>(head_dim)); }
};

// Computes weights [batch, heads, queries, keys] = softmax(scaled q * k + mask), and 0 for keys after the query. Each
// thread computes one row. mask [batch, queries, keys] may be null.
struct AttentionWeightsKernel {
  AttentionShape shape;
  HeadView query, key;
  const float* mask;
  float* weights;

  HOST_DEVICE void operator()(int64_t index) const {
    const int keys = shape.keys();
    const int64_t i = index % shape.queries;
    const int64_t h = index / shape.queries % shape.heads;
    const int64_t b = index / shape.queries / shape.heads;
    const int visible = shape.past + static_cast<int>(i) + 1;
    const float* q = query.at(b, i, h, shape.head_dim);
    float* row = weights + index * keys;
    float largest = -INFINITY;
    for (int j = 0; j < visible; ++j) {
      const float* k = key.at(b, j, h, shape.head_dim);
      float score = 0.0f;
      for (int d = 0; d < shape.head_dim; ++d) score += q[d] * k[d];
      score *= shape.scale();
      if (mask != nullptr) score += mask[(b * shape.queries + i) * keys + j];
      row[j] = score;
      largest = score > largest ? score : largest;
    }
    float sum = 0.0f;
    for (int j = 0; j < visible; ++j) sum += row[j] = expf(row[j] - largest);
    for (int j = 0; j < keys; ++j) row[j] = j < visible ? row[j] / sum : 0.0f;
  }
};

// Computes context [batch, queries, dim] = weights * v. Each thread computes one value.
struct AttentionContextKernel {
  AttentionShape shape;
  HeadView value;
  const float* weights;
  float* context;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t d = index % shape.head_dim;
    const int64_t h = index / shape.head_dim % shape.heads;
    const int64_t i = index / shape.dim() % shape.queries;
    const int64_t b = index / shape.dim() / shape.queries;
    const float* row = weights + ((b * shape.heads + h) * shape.queries + i) * shape.keys();
    float sum = 0.0f;
    for (int j = 0; j < shape.keys(); ++j) sum += row[j] * value.at(b, j, h, shape.head_dim)[d];
    context[index] = sum;
  }
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_ATTENTION_KERNELS_H_
