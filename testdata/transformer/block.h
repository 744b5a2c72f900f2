// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_BLOCK_H_
#define TESTDATA_TRANSFORMER_BLOCK_H_

#include "testdata/transformer/attention.h"
#include "testdata/transformer/mlp.h"

namespace transformer {

// The activations that one layer saves for its backward pass. The norms' statistics are [rows, 2], the others [rows,
// dim].
struct BlockActivations {
  DeviceBuffer<float> norm1;
  DeviceBuffer<float> statistics1;
  AttentionActivations attention;
  DeviceBuffer<float> residual;
  DeviceBuffer<float> norm2;
  DeviceBuffer<float> statistics2;
  MlpActivations mlp;
  DeviceBuffer<float> output;

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    norm1.VisitBuffers(visit);
    statistics1.VisitBuffers(visit);
    attention.VisitBuffers(visit);
    residual.VisitBuffers(visit);
    norm2.VisitBuffers(visit);
    statistics2.VisitBuffers(visit);
    mlp.VisitBuffers(visit);
    output.VisitBuffers(visit);
  }
};

// One layer: x + attention(norm(x)), then the same with the MLP. `parameters` must outlive this object.
class Block {
 public:
  Block(const Config& config, const ParameterLayout& layout, const Parameters& parameters, int layer);

  BlockActivations Forward(const DeviceBuffer<float>& input, const Batch& batch) const;

  // Replaces the gradient of the output in `grad` [rows, dim] by that of the input, and adds to `gradients`.
  void Backward(const DeviceBuffer<float>& input, const Batch& batch, const BlockActivations& saved, float* scratch,
                DeviceBuffer<float>* grad, Gradients* gradients) const;

  // For inference: processes `count` more tokens of each sequence. `scratch` is passed to Mlp::Infer, and the other
  // arguments to Attention::Extend.
  DeviceBuffer<float> Extend(const DeviceBuffer<float>& input, const float* mask, int count, float* scratch,
                             KvCache* cache, DeviceBuffer<float>* weights) const;

 private:
  size_t Index(LayerParameter which) const { return layout_.layer(layer_, which); }
  const float* Value(LayerParameter which) const { return parameters_.data(Index(which)); }

  const Config config_;
  const ParameterLayout layout_;
  const Parameters& parameters_;
  const int layer_;
  const Attention attention_;
  const Mlp mlp_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_BLOCK_H_
