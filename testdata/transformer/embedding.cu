// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/embedding.h"

#include "testdata/transformer/launch.h"

namespace transformer {
namespace {

struct EmbeddingKernel {
  const int32_t* tokens;
  const float* token_table;
  const float* position_table;
  float* output;
  int stride, length, past, dim;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t row = index / dim;
    const int64_t column = index % dim;
    const int64_t position = past + row % length;
    const int64_t token = tokens[row / length * stride + position];
    output[index] = token_table[token * dim + column] + position_table[position * dim + column];
  }
};

// One thread for each value of the table, so that no two add to the same one.
struct TokenGradientKernel {
  const int32_t* tokens;
  const float* grad_output;
  float* grad_table;
  int rows, dim;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t token = index / dim;
    const int64_t column = index % dim;
    float sum = 0.0f;
    for (int64_t row = 0; row < rows; ++row) {
      if (tokens[row] == token) sum += grad_output[row * dim + column];
    }
    grad_table[index] += sum;
  }
};

struct PositionGradientKernel {
  const float* grad_output;
  float* grad_table;
  int rows, length, dim;

  HOST_DEVICE void operator()(int64_t index) const {
    float sum = 0.0f;
    for (int64_t row = index / dim; row < rows; row += length) sum += grad_output[row * dim + index % dim];
    grad_table[index] += sum;
  }
};

}  // namespace

void EmbeddingForward(const int32_t* tokens, int stride, const float* token_table, const float* position_table,
                      float* output, int rows, int length, int past, int dim) {
  Launch(int64_t{rows} * dim, EmbeddingKernel{tokens, token_table, position_table, output, stride, length, past, dim});
}

void EmbeddingBackward(const int32_t* tokens, const float* grad_output, float* grad_token_table,
                       float* grad_position_table, int rows, int length, int vocab, int dim) {
  Launch(int64_t{vocab} * dim, TokenGradientKernel{tokens, grad_output, grad_token_table, rows, dim});
  Launch(int64_t{length} * dim, PositionGradientKernel{grad_output, grad_position_table, rows, length, dim});
}

}  // namespace transformer
