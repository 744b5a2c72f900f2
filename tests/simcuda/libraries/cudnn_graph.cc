// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface, which PyTorch's convolutions use: one engine for every graph of operations, with a workspace
// as large as the graph's largest tensor. Running a plan does nothing.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/simcuda/libraries/cudnn.h"
#include "tests/simcuda/libraries/cudnn_tensor.h"

namespace vramtrack::simcuda {
namespace {

// cudnnBackendAttributeType_t, and the attributes that matter, of cudnnBackendAttributeName_t.
constexpr int kDataType = 1, kInt64 = 3, kDescriptor = 15;
constexpr int kHeuristicResults = 202, kConfigurationEngine = 300, kPlanWorkspace = 402;
constexpr int kTensorType = 901, kTensorSizes = 902;

// Programs destroy a descriptor as soon as another one is made from it, so each takes over at once what it is linked
// to.
struct BackendDescriptor {
  size_t largest_tensor = 0;  // bytes
  // Of a tensor.
  std::vector<int64_t> sizes;
  int type = 0;

  size_t Largest() const {
    if (sizes.empty()) return largest_tensor;
    size_t bytes = ElementBytes(type);
    for (int64_t size : sizes) bytes *= static_cast<size_t>(size);
    return bytes;
  }
  void Link(const BackendDescriptor& other) { largest_tensor = std::max(largest_tensor, other.Largest()); }
};

}  // namespace

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(int, void** descriptor) {
  *descriptor = new BackendDescriptor;
  return 0;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(void* descriptor) {
  delete static_cast<BackendDescriptor*>(descriptor);
  return 0;
}

cudnnStatus_t cudnnBackendSetAttribute(void* handle, int name, int type, int64_t count, const void* values) {
  auto* descriptor = static_cast<BackendDescriptor*>(handle);
  if (type == kDescriptor) {
    for (int64_t index = 0; index < count; ++index) {
      const auto* linked = static_cast<BackendDescriptor* const*>(values)[index];
      if (linked != nullptr) descriptor->Link(*linked);
    }
  } else if (type == kInt64 && name == kTensorSizes) {
    const auto* sizes = static_cast<const int64_t*>(values);
    descriptor->sizes.assign(sizes, sizes + count);
  } else if (type == kDataType && name == kTensorType) {
    memcpy(&descriptor->type, values, sizeof(descriptor->type));
  }
  return 0;
}

// Of attributes of other kinds there are none.
cudnnStatus_t cudnnBackendGetAttribute(void* handle, int name, int type, int64_t room, int64_t* count, void* values) {
  const auto* descriptor = static_cast<const BackendDescriptor*>(handle);
  int64_t found = 0;
  if (name == kHeuristicResults || name == kConfigurationEngine) {
    // The caller made the descriptor that is filled in.
    if (room > 0 && values != nullptr) (*static_cast<BackendDescriptor**>(values))->Link(*descriptor);
    found = 1;
  } else if (type == kInt64) {
    const bool wanted = room > 0 && values != nullptr;
    if (wanted) memset(values, 0, sizeof(int64_t) * static_cast<size_t>(room));
    if (wanted && name == kPlanWorkspace) {
      *static_cast<int64_t*>(values) = static_cast<int64_t>(WorkBytes(descriptor->Largest()));
    }
    found = room;
  }
  if (count != nullptr) *count = found;
  return 0;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
