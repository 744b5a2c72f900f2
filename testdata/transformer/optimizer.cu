// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/optimizer.h"

#include <cmath>
#include <utility>

#include "testdata/transformer/launch.h"

namespace transformer {
namespace {

struct AdamKernel {
  AdamOptions options;
  float correction1, correction2;  // 1 - beta^steps
  const float* gradient;
  float* moment1;
  float* moment2;
  float* parameter;

  HOST_DEVICE void operator()(int64_t i) const {
    const float g = gradient[i];
    moment1[i] = options.beta1 * moment1[i] + (1.0f - options.beta1) * g;
    moment2[i] = options.beta2 * moment2[i] + (1.0f - options.beta2) * g * g;
    const float deviation = sqrtf(moment2[i] / correction2) + options.epsilon;
    parameter[i] -= options.learning_rate * (moment1[i] / correction1) / deviation;
  }
};

}  // namespace

Adam::Adam(const ParameterLayout& layout, const AdamOptions& options, bool lazy) : layout_(layout), options_(options) {
  if (!lazy) AllocateState();
}

TRANSFORMER_NOINLINE void Adam::AllocateState() {
  for (size_t i = 0; i < layout_.size(); ++i) {
    DeviceBuffer<float> moment1(layout_.count(i));
    DeviceBuffer<float> moment2(layout_.count(i));
    moment1.Zero();
    moment2.Zero();
    moment1_.push_back(std::move(moment1));
    moment2_.push_back(std::move(moment2));
  }
}

TRANSFORMER_NOINLINE void Adam::Step(const Gradients& gradients, Parameters* parameters) {
  if (moment1_.empty()) AllocateState();
  ++steps_;
  const float correction1 = static_cast<float>(1.0 - std::pow(options_.beta1, steps_));
  const float correction2 = static_cast<float>(1.0 - std::pow(options_.beta2, steps_));
  for (size_t i = 0; i < layout_.size(); ++i) {
    Launch(layout_.count(i), AdamKernel{options_, correction1, correction2, gradients.buffer(i).data(),
                                        moment1_[i].data(), moment2_[i].data(), parameters->buffer(i).data()});
  }
}

}  // namespace transformer
