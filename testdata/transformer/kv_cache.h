// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_KV_CACHE_H_
#define TESTDATA_TRANSFORMER_KV_CACHE_H_

#include <vector>

#include "testdata/transformer/config.h"
#include "testdata/transformer/device_buffer.h"

namespace transformer {

// The keys and values of the tokens of a batch of sequences, for every layer. Both are [batch, capacity, dim].
class KvCache {
 public:
  KvCache(const Config& config, int capacity);

  int batch() const { return batch_; }
  int capacity() const { return capacity_; }
  int length() const { return length_; }  // tokens in the cache
  void Advance(int count) { length_ += count; }
  void Clear() { length_ = 0; }

  float* keys(int layer) { return layers_[layer].keys.data(); }
  float* values(int layer) { return layers_[layer].values.data(); }

  template <typename Visitor>
  void VisitBuffers(Visitor&& visit) const {
    for (const Layer& layer : layers_) {
      layer.keys.VisitBuffers(visit);
      layer.values.VisitBuffers(visit);
    }
  }

 private:
  struct Layer {
    DeviceBuffer<float> keys;
    DeviceBuffer<float> values;
  };

  int batch_;
  int capacity_;
  int length_ = 0;
  std::vector<Layer> layers_;
};

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_KV_CACHE_H_
