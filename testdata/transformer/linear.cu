// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/linear.h"

#include "testdata/transformer/launch.h"

namespace transformer {
namespace {

struct LinearKernel {
  const float* input;
  const float* weight;
  const float* bias;
  float* output;
  int in, out;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t row = index / out;
    const int64_t column = index % out;
    float sum = bias == nullptr ? 0.0f : bias[column];
    for (int i = 0; i < in; ++i) sum += input[row * in + i] * weight[int64_t{i} * out + column];
    output[index] = sum;
  }
};

struct LinearInputGradientKernel {
  const float* weight;
  const float* grad_output;
  float* grad_input;
  int in, out;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t row = index / in;
    const int64_t column = index % in;
    float sum = 0.0f;
    for (int o = 0; o < out; ++o) sum += grad_output[row * out + o] * weight[column * out + o];
    grad_input[index] = sum;
  }
};

struct WeightGradientKernel {
  const float* input;
  const float* grad_output;
  float* grad_weight;
  int rows, in, out;

  HOST_DEVICE void operator()(int64_t index) const {
    const int64_t i = index / out;
    const int64_t o = index % out;
    float sum = 0.0f;
    for (int64_t row = 0; row < rows; ++row) sum += input[row * in + i] * grad_output[row * out + o];
    grad_weight[index] += sum;
  }
};

struct BiasGradientKernel {
  const float* grad_output;
  float* grad_bias;
  int rows, out;

  HOST_DEVICE void operator()(int64_t index) const {
    float sum = 0.0f;
    for (int64_t row = 0; row < rows; ++row) sum += grad_output[row * out + index];
    grad_bias[index] += sum;
  }
};

}  // namespace

void LinearForward(const float* input, const float* weight, const float* bias, float* output, int rows, int in,
                   int out) {
  Launch(int64_t{rows} * out, LinearKernel{input, weight, bias, output, in, out});
}

void LinearBackward(const float* input, const float* weight, const float* grad_output, float* grad_input,
                    float* grad_weight, float* grad_bias, int rows, int in, int out) {
  Launch(int64_t{rows} * in, LinearInputGradientKernel{weight, grad_output, grad_input, in, out});
  Launch(int64_t{in} * out, WeightGradientKernel{input, grad_output, grad_weight, rows, in, out});
  if (grad_bias != nullptr) Launch(out, BiasGradientKernel{grad_output, grad_bias, rows, out});
}

}  // namespace transformer
