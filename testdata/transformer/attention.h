// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_ATTENTION_H_
#define TESTDATA_TRANSFORMER_ATTENTION_H_

#include "testdata/transformer/batch.h"
#include "testdata/transformer/config.h"
#include "testdata/transformer/device_buffer.h"
#include "testdata/transformer/kv_cache.h"
#include "testdata/transformer/parameters.h"

namespace transformer {

// The activations that attention saves for its backward pass: qkv [rows, 3 * dim], weights [batch, heads, seq, seq] and
// context [rows, dim].
struct AttentionActivations {
  DeviceBuffer<float> qkv;
  DeviceBuffer<float> weights;
  DeviceBuffer<float> context;

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    qkv.VisitBuffers(visit);
    weights.VisitBuffers(visit);
    context.VisitBuffers(visit);
  }
};

// Causal self-attention of one layer. `parameters` must outlive this object.
class Attention {
 public:
  Attention(const Config& config, const ParameterLayout& layout, const Parameters& parameters, int layer);

  // Returns the projected output [rows, dim] for `input` [rows, dim], and fills `saved`.
  DeviceBuffer<float> Forward(const DeviceBuffer<float>& input, const Batch& batch, AttentionActivations* saved) const;

  // Returns the gradient of the input, and adds to `gradients`. `scratch` must have room for the attention weights.
  DeviceBuffer<float> Backward(const DeviceBuffer<float>& input, const Batch& batch, const AttentionActivations& saved,
                               const DeviceBuffer<float>& grad_output, float* scratch, Gradients* gradients) const;

  // For inference: does the same as Forward for `count` more tokens of each sequence, and adds their keys and values to
  // the cache. `mask` may be null. Sets `weights` to the attention weights.
  DeviceBuffer<float> Extend(const DeviceBuffer<float>& input, const float* mask, int count, KvCache* cache,
                             DeviceBuffer<float>* weights) const;

 private:
  size_t Index(LayerParameter which) const { return layout_.layer(layer_, which); }
  const float* Value(LayerParameter which) const { return parameters_.data(Index(which)); }

  const Config config_;
  const ParameterLayout layout_;
  const Parameters& parameters_;
  const int layer_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_ATTENTION_H_
