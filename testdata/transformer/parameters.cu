// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/parameters.h"

#include <cmath>
#include <utility>

#include "testdata/transformer/random.h"

namespace transformer {

ParameterLayout::ParameterLayout(const Config& config) : layers_(config.layers) {
  const size_t dim = config.dim;
  const size_t hidden = config.hidden_dim();
  counts_ = {config.vocab * dim, config.seq * dim};
  for (int layer = 0; layer < config.layers; ++layer) {
    counts_.insert(counts_.end(), {dim, dim, dim * 3 * dim, 3 * dim, dim * dim, dim, dim, dim, dim * hidden, hidden,
                                   hidden * dim, dim});
  }
  counts_.insert(counts_.end(), {dim, dim, dim * config.vocab});
}

std::vector<std::vector<float>> InitialParameters(const Config& config, uint64_t seed, float scale) {
  const ParameterLayout layout(config);
  Random random(seed);
  std::vector<std::vector<float>> values;
  for (size_t i = 0; i < layout.size(); ++i) {
    const size_t count = layout.count(i);
    std::vector<float> value(count);
    for (float& v : value) v = scale * 0.05f * static_cast<float>(random.Symmetric());
    values.push_back(std::move(value));
  }
  const auto add_one = [&values](size_t index) {
    for (float& v : values[index]) v += 1.0f;
  };
  for (int layer = 0; layer < config.layers; ++layer) {
    add_one(layout.layer(layer, kNorm1Gamma));
    add_one(layout.layer(layer, kNorm2Gamma));
  }
  add_one(layout.final_gamma());
  return values;
}

Parameters::Parameters(const ParameterLayout& layout, const std::vector<std::vector<float>>& values) {
  for (size_t i = 0; i < layout.size(); ++i) {
    DeviceBuffer<float> buffer(layout.count(i));
    buffer.CopyFrom(values[i].data());
    buffers_.push_back(std::move(buffer));
  }
}

Gradients::Gradients(const ParameterLayout& layout) {
  for (size_t i = 0; i < layout.size(); ++i) {
    DeviceBuffer<float> buffer(layout.count(i));
    buffer.Zero();
    buffers_.push_back(std::move(buffer));
  }
}

}  // namespace transformer
