// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/kv_cache.h"

#include <utility>

namespace transformer {

KvCache::KvCache(const Config& config, int capacity) : batch_(config.batch), capacity_(capacity) {
  const size_t count = static_cast<size_t>(config.batch) * capacity * config.dim;
  for (int i = 0; i < config.layers; ++i) {
    DeviceBuffer<float> keys(count);
    DeviceBuffer<float> values(count);
    layers_.push_back({std::move(keys), std::move(values)});
  }
}

}  // namespace transformer
