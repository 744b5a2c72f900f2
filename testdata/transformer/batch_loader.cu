// SPDX-License-Identifier: Apache-2.0
#include "testdata/transformer/batch_loader.h"

#include <cstring>
#include <utility>

namespace transformer {
namespace {

// Copies `values` to `staging` at `*offset` bytes, and from there to the device.
template <typename T>
void Stage(const std::vector<T>& values, PinnedBuffer* staging, size_t* offset, DeviceBuffer<T>* device) {
  if (staging->data() == nullptr) return;
  char* const at = static_cast<char*>(staging->data()) + *offset;
  std::memcpy(at, values.data(), values.size() * sizeof(T));
  *offset += values.size() * sizeof(T);
  device->CopyFrom(reinterpret_cast<const T*>(at));
}

}  // namespace

TRANSFORMER_NOINLINE Batch BatchLoader::Upload(const HostBatch& host) {
  Batch batch;
  batch.batch = host.batch;
  batch.seq = host.seq;
  batch.valid = host.valid;
  batch.tokens = DeviceBuffer<int32_t>(host.tokens.size());
  batch.targets = DeviceBuffer<int32_t>(host.targets.size());
  batch.mask = DeviceBuffer<float>(host.mask.size());

  PinnedBuffer staging(batch.tokens.bytes() + batch.targets.bytes() + batch.mask.bytes());
  size_t offset = 0;
  Stage(host.tokens, &staging, &offset, &batch.tokens);
  Stage(host.targets, &staging, &offset, &batch.targets);
  Stage(host.mask, &staging, &offset, &batch.mask);
  if (plan_->Due(Leak::kPinnedStaging)) {
    // Put aside until its copies are over, and never looked at again.
    plan_->Note(Leak::kPinnedStaging, staging);
    in_flight_.push_back(std::move(staging));
    return batch;
  }
  // Pinned memory is not freed under a running copy.
  if (staging.data() != nullptr) CheckCuda(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  return batch;
}

}  // namespace transformer
