// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_MODEL_H_
#define TESTDATA_TRANSFORMER_MODEL_H_

#include <vector>

#include "testdata/transformer/block.h"

namespace transformer {

// A loss, and the activations that its backward pass needs.
struct Loss {
  DeviceBuffer<float> value;  // one number
  DeviceBuffer<float> row_losses;
  DeviceBuffer<float> embedded;
  std::vector<BlockActivations> blocks;
  DeviceBuffer<float> norm;
  DeviceBuffer<float> statistics;
  DeviceBuffer<float> logits;  // [rows, vocab]

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    value.VisitBuffers(visit);
    row_losses.VisitBuffers(visit);
    embedded.VisitBuffers(visit);
    for (const BlockActivations& block : blocks) block.VisitBuffers(visit);
    norm.VisitBuffers(visit);
    statistics.VisitBuffers(visit);
    logits.VisitBuffers(visit);
  }
};

// A decoder-only transformer: embedding, layers, norm, head. `parameters` must outlive this object. All data pointers
// are device memory.
class Model {
 public:
  Model(const Config& config, const ParameterLayout& layout, const Parameters& parameters);

  Loss Forward(const Batch& batch) const;

  // Returns how many values of scratch memory Backward needs.
  size_t BackwardScratch(const Batch& batch) const;
  // Adds the gradients of `loss` to `gradients`.
  void Backward(const Batch& batch, const Loss& loss, float* scratch, Gradients* gradients) const;

  // Returns how many values of scratch memory Extend needs.
  size_t ExtendScratch(int count) const;
  // For inference: returns the logits [batch, vocab] after `count` more tokens of each sequence. The tokens follow
  // those in the cache; sequences begin `stride` apart in `tokens`. `mask` may be null. Appends the attention weights
  // of each layer to `weights` unless that is null.
  DeviceBuffer<float> Extend(const int32_t* tokens, int stride, const float* mask, int count, float* scratch,
                             KvCache* cache, std::vector<DeviceBuffer<float>>* weights) const;

 private:
  const Config config_;
  const ParameterLayout layout_;
  const Parameters& parameters_;
  std::vector<Block> blocks_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_MODEL_H_
