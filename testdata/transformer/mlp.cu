// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/mlp.h"

#include <cmath>

#include "testdata/transformer/launch.h"
#include "testdata/transformer/linear.h"

namespace transformer {
namespace {

// GELU(x) = x / 2 * (1 + tanh(a * (x + b * x^3))), a = sqrt(2 / pi).
constexpr float kA = 0.7978845608028654f;
constexpr float kB = 0.044715f;

// `output` may be `input`.
struct GeluKernel {
  const float* input;
  float* output;

  HOST_DEVICE void operator()(int64_t i) const {
    const float x = input[i];
    output[i] = 0.5f * x * (1.0f + tanhf(kA * (x + kB * x * x * x)));
  }
};

// grad holds the gradient of the output, then that of the input.
struct GeluGradientKernel {
  const float* input;
  float* grad;

  HOST_DEVICE void operator()(int64_t i) const {
    const float x = input[i];
    const float t = tanhf(kA * (x + kB * x * x * x));
    grad[i] *= 0.5f * (1.0f + t) + 0.5f * x * (1.0f - t * t) * kA * (1.0f + 3.0f * kB * x * x);
  }
};

}  // namespace

Mlp::Mlp(const Config& config, const ParameterLayout& layout, const Parameters& parameters, int layer)
    : config_(config), layout_(layout), parameters_(parameters), layer_(layer) {}

TRANSFORMER_NOINLINE DeviceBuffer<float> Mlp::Forward(const DeviceBuffer<float>& input, MlpActivations* saved) const {
  const int dim = config_.dim;
  const int hidden_dim = config_.hidden_dim();
  const size_t rows = input.count() / dim;
  saved->hidden = DeviceBuffer<float>(rows * hidden_dim);
  LinearForward(input.data(), Value(kUpWeight), Value(kUpBias), saved->hidden.data(), rows, dim, hidden_dim);
  saved->activated = DeviceBuffer<float>(rows * hidden_dim);
  Launch(rows * hidden_dim, GeluKernel{saved->hidden.data(), saved->activated.data()});
  DeviceBuffer<float> output(rows * dim);
  LinearForward(saved->activated.data(), Value(kDownWeight), Value(kDownBias), output.data(), rows, hidden_dim, dim);
  return output;
}

TRANSFORMER_NOINLINE DeviceBuffer<float> Mlp::Backward(const DeviceBuffer<float>& input, const MlpActivations& saved,
                                                       const DeviceBuffer<float>& grad_output,
                                                       Gradients* gradients) const {
  const int dim = config_.dim;
  const int hidden_dim = config_.hidden_dim();
  const size_t rows = input.count() / dim;
  DeviceBuffer<float> grad_hidden(rows * hidden_dim);
  LinearBackward(saved.activated.data(), Value(kDownWeight), grad_output.data(), grad_hidden.data(),
                 gradients->data(Index(kDownWeight)), gradients->data(Index(kDownBias)), rows, hidden_dim, dim);
  Launch(rows * hidden_dim, GeluGradientKernel{saved.hidden.data(), grad_hidden.data()});
  DeviceBuffer<float> grad_input(rows * dim);
  LinearBackward(input.data(), Value(kUpWeight), grad_hidden.data(), grad_input.data(),
                 gradients->data(Index(kUpWeight)), gradients->data(Index(kUpBias)), rows, dim, hidden_dim);
  return grad_input;
}

TRANSFORMER_NOINLINE DeviceBuffer<float> Mlp::Infer(const DeviceBuffer<float>& input, float* scratch) const {
  const int dim = config_.dim;
  const int hidden_dim = config_.hidden_dim();
  const size_t rows = input.count() / dim;
  LinearForward(input.data(), Value(kUpWeight), Value(kUpBias), scratch, rows, dim, hidden_dim);
  Launch(rows * hidden_dim, GeluKernel{scratch, scratch});
  DeviceBuffer<float> output(rows * dim);
  LinearForward(scratch, Value(kDownWeight), Value(kDownBias), output.data(), rows, hidden_dim, dim);
  return output;
}

}  // namespace transformer
