// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_PARAMETERS_H_
#define TESTDATA_TRANSFORMER_PARAMETERS_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "testdata/transformer/config.h"
#include "testdata/transformer/device_buffer.h"

namespace transformer {

// The parameters of one layer, in the order in which they are stored.
enum LayerParameter {
  kNorm1Gamma,
  kNorm1Beta,
  kQkvWeight,
  kQkvBias,
  kProjectWeight,
  kProjectBias,
  kNorm2Gamma,
  kNorm2Beta,
  kUpWeight,
  kUpBias,
  kDownWeight,
  kDownBias,
  kLayerParameters
};

// The indexes and sizes of all parameters: token and position embedding, the layers, the final norm, the head.
class ParameterLayout {
 public:
  explicit ParameterLayout(const Config& config);

  size_t size() const { return counts_.size(); }
  size_t count(size_t index) const { return counts_[index]; }

  size_t token_embedding() const { return 0; }
  size_t position_embedding() const { return 1; }
  size_t layer(int layer, LayerParameter which) const {
    return 2 + static_cast<size_t>(layer) * kLayerParameters + which;
  }
  size_t final_gamma() const { return layer(layers_, kNorm1Gamma); }
  size_t final_beta() const { return layer(layers_, kNorm1Beta); }
  size_t head_weight() const { return final_beta() + 1; }

 private:
  int layers_;
  std::vector<size_t> counts_;
};

// Returns the initial values of every parameter, which are the same for the same seed. Multiplies the random ones by
// `scale`.
std::vector<std::vector<float>> InitialParameters(const Config& config, uint64_t seed, float scale = 1.0f);

// All parameters in device memory, each in its own buffer.
class Parameters {
 public:
  Parameters(const ParameterLayout& layout, const std::vector<std::vector<float>>& values);

  size_t size() const { return buffers_.size(); }
  DeviceBuffer<float>& buffer(size_t index) { return buffers_[index]; }
  const float* data(size_t index) const { return buffers_[index].data(); }

 private:
  std::vector<DeviceBuffer<float>> buffers_;
};

// The gradients of one step, initially zero.
class Gradients {
 public:
  explicit Gradients(const ParameterLayout& layout);

  float* data(size_t index) { return buffers_[index].data(); }
  DeviceBuffer<float>& buffer(size_t index) { return buffers_[index]; }
  const DeviceBuffer<float>& buffer(size_t index) const { return buffers_[index]; }

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    for (const DeviceBuffer<float>& buffer : buffers_) buffer.VisitBuffers(visit);
  }

 private:
  std::vector<DeviceBuffer<float>> buffers_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_PARAMETERS_H_
