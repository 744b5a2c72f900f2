// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_MLP_H_
#define TESTDATA_TRANSFORMER_MLP_H_

#include "testdata/transformer/config.h"
#include "testdata/transformer/device_buffer.h"
#include "testdata/transformer/parameters.h"

namespace transformer {

// The activations that the MLP saves for its backward pass, both [rows, 4 * dim].
struct MlpActivations {
  DeviceBuffer<float> hidden;
  DeviceBuffer<float> activated;

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    hidden.VisitBuffers(visit);
    activated.VisitBuffers(visit);
  }
};

// Two linear maps with a GELU (tanh form) between them. `parameters` must outlive this object.
class Mlp {
 public:
  Mlp(const Config& config, const ParameterLayout& layout, const Parameters& parameters, int layer);

  // Returns the output [rows, dim] for `input` [rows, dim], and fills `saved`.
  DeviceBuffer<float> Forward(const DeviceBuffer<float>& input, MlpActivations* saved) const;

  // Returns the gradient of the input, and adds to `gradients`.
  DeviceBuffer<float> Backward(const DeviceBuffer<float>& input, const MlpActivations& saved,
                               const DeviceBuffer<float>& grad_output, Gradients* gradients) const;

  // Returns the same as Forward. Uses `scratch` [rows, 4 * dim] and saves nothing.
  DeviceBuffer<float> Infer(const DeviceBuffer<float>& input, float* scratch) const;

 private:
  size_t Index(LayerParameter which) const { return layout_.layer(layer_, which); }
  const float* Value(LayerParameter which) const { return parameters_.data(Index(which)); }

  const Config config_;
  const ParameterLayout layout_;
  const Parameters& parameters_;
  const int layer_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_MLP_H_
