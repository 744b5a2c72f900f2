// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_MLP_H_
#define TESTDATA_TRANSFORMER_MLP_H_

#include "testdata/transformer/config.h"
#include "testdata/transformer/device_buffer.h"
#include "testdata/transformer/parameters.h"

namespace transformer {

// What the MLP saves for its backward pass, both [rows, 4 * dim].
struct MlpActivations {
  DeviceBuffer<float> hidden;
  DeviceBuffer<float> activated;

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    hidden.VisitBuffers(visit);
    activated.VisitBuffers(visit);
  }
};

// Two linear maps with a GELU (tanh form) between them. `parameters` must outlive it.
class Mlp {
 public:
  Mlp(const Config& config, const ParameterLayout& layout, const Parameters& parameters, int layer);

  // The output [rows, dim] for `input` [rows, dim]; fills `saved`.
  DeviceBuffer<float> Forward(const DeviceBuffer<float>& input, MlpActivations* saved) const;

  // The gradient of the input. Adds to `gradients`.
  DeviceBuffer<float> Backward(const DeviceBuffer<float>& input, const MlpActivations& saved,
                               const DeviceBuffer<float>& grad_output, Gradients* gradients) const;

  // As Forward, with `scratch` [rows, 4 * dim] in place of saved activations.
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
