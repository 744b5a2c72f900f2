// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/layer_norm.h"

#include <cmath>

#include "testdata/transformer/launch.h"

namespace transformer {
namespace {

struct LayerNormKernel {
  const float* input;
  const float* gamma;
  const float* beta;
  float* output;
  float* statistics;
  int dim;

  HOST_DEVICE void operator()(int64_t row) const {
    const float* x = input + row * dim;
    float mean = 0.0f;
    for (int i = 0; i < dim; ++i) mean += x[i];
    mean /= static_cast<float>(dim);
    float variance = 0.0f;
    for (int i = 0; i < dim; ++i) variance += (x[i] - mean) * (x[i] - mean);
    const float inverse = 1.0f / sqrtf(variance / static_cast<float>(dim) + kNormEpsilon);
    for (int i = 0; i < dim; ++i) output[row * dim + i] = (x[i] - mean) * inverse * gamma[i] + beta[i];
    statistics[2 * row] = mean;
    statistics[2 * row + 1] = inverse;
  }
};

struct LayerNormInputGradientKernel {
  const float* input;
  const float* gamma;
  const float* statistics;
  const float* grad_output;
  float* grad_input;
  int dim;

  HOST_DEVICE void operator()(int64_t row) const {
    const float mean = statistics[2 * row];
    const float inverse = statistics[2 * row + 1];
    float sum = 0.0f;
    float sum_scaled = 0.0f;
    for (int i = 0; i < dim; ++i) {
      const float g = grad_output[row * dim + i] * gamma[i];
      sum += g;
      sum_scaled += g * (input[row * dim + i] - mean) * inverse;
    }
    for (int i = 0; i < dim; ++i) {
      const float g = grad_output[row * dim + i] * gamma[i];
      const float scaled = (input[row * dim + i] - mean) * inverse;
      grad_input[row * dim + i] += inverse * (g - (sum + scaled * sum_scaled) / static_cast<float>(dim));
    }
  }
};

struct ParameterGradientKernel {
  const float* input;
  const float* statistics;
  const float* grad_output;
  float* grad_gamma;
  float* grad_beta;
  int rows, dim;

  HOST_DEVICE void operator()(int64_t i) const {
    float gamma = 0.0f;
    float beta = 0.0f;
    for (int64_t row = 0; row < rows; ++row) {
      const float g = grad_output[row * dim + i];
      gamma += g * (input[row * dim + i] - statistics[2 * row]) * statistics[2 * row + 1];
      beta += g;
    }
    grad_gamma[i] += gamma;
    grad_beta[i] += beta;
  }
};

}  // namespace

void LayerNormForward(const float* input, const float* gamma, const float* beta, float* output, float* statistics,
                      int rows, int dim) {
  Launch(rows, LayerNormKernel{input, gamma, beta, output, statistics, dim});
}

void LayerNormBackward(const float* input, const float* gamma, const float* statistics, const float* grad_output,
                       float* grad_input, float* grad_gamma, float* grad_beta, int rows, int dim) {
  Launch(rows, LayerNormInputGradientKernel{input, gamma, statistics, grad_output, grad_input, dim});
  Launch(dim, ParameterGradientKernel{input, statistics, grad_output, grad_gamma, grad_beta, rows, dim});
}

}  // namespace transformer
