// SPDX-License-Identifier: Apache-2.0
// cuDNN's graph interface, which PyTorch's convolutions use: one engine for every graph of operations, with a workspace
// as large as the graph's largest tensor. Running a plan does nothing.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>
#include <set>
#include <vector>

#include "tests/simcuda/libraries/cudnn.h"
#include "tests/simcuda/libraries/cudnn_tensor.h"

namespace vramtrack::simcuda {
namespace {

// cudnnBackendAttributeType_t, and the attributes that matter, of cudnnBackendAttributeName_t.
constexpr int kInt64 = 3, kDataType = 1, kDescriptor = 15;
constexpr int kHeuristicGraph = 201, kHeuristicResults = 202, kConfigurationGraph = -1, kPlanWorkspace = 402;
constexpr int kTensorType = 901, kTensorSizes = 902;

struct BackendDescriptor {
  std::map<int, std::vector<BackendDescriptor*>> linked;
  std::vector<int64_t> sizes;
  int type = 0;
};

using Set = std::set<const BackendDescriptor*>;

// Descriptors are destroyed in any order; what is gone is not followed. Guarded by the mutex; never destroyed.
std::mutex mutex;
Set& live = *new Set;

size_t LargestTensor(const BackendDescriptor* descriptor, Set* seen) {
  if (live.count(descriptor) == 0 || !seen->insert(descriptor).second) return 0;
  size_t largest = 0;
  if (!descriptor->sizes.empty()) {
    largest = ElementBytes(descriptor->type);
    for (int64_t size : descriptor->sizes) largest *= static_cast<size_t>(size);
  }
  for (const auto& attribute : descriptor->linked) {
    for (const BackendDescriptor* linked : attribute.second) largest = std::max(largest, LargestTensor(linked, seen));
  }
  return largest;
}

}  // namespace

extern "C" {

cudnnStatus_t cudnnBackendCreateDescriptor(int, void** descriptor) {
  auto* created = new BackendDescriptor;
  std::lock_guard<std::mutex> lock(mutex);
  live.insert(created);
  *descriptor = created;
  return 0;
}

cudnnStatus_t cudnnBackendDestroyDescriptor(void* descriptor) {
  std::lock_guard<std::mutex> lock(mutex);
  live.erase(static_cast<BackendDescriptor*>(descriptor));
  delete static_cast<BackendDescriptor*>(descriptor);
  return 0;
}

cudnnStatus_t cudnnBackendSetAttribute(void* handle, int name, int type, int64_t count, const void* values) {
  auto* descriptor = static_cast<BackendDescriptor*>(handle);
  if (type == kDescriptor) {
    auto* const* linked = static_cast<BackendDescriptor* const*>(values);
    descriptor->linked[name].assign(linked, linked + count);
  } else if (type == kInt64 && name == kTensorSizes) {
    const auto* sizes = static_cast<const int64_t*>(values);
    descriptor->sizes.assign(sizes, sizes + count);
  } else if (type == kDataType && name == kTensorType) {
    memcpy(&descriptor->type, values, sizeof(descriptor->type));
  }
  return 0;
}

cudnnStatus_t cudnnBackendGetAttribute(void* handle, int name, int type, int64_t room, int64_t* count, void* values) {
  auto* descriptor = static_cast<BackendDescriptor*>(handle);
  if (name == kHeuristicResults) {
    if (room > 0 && values != nullptr) {
      // The caller made the descriptor of the result.
      auto* configuration = *static_cast<BackendDescriptor**>(values);
      configuration->linked[kConfigurationGraph] = descriptor->linked[kHeuristicGraph];
    }
    if (count != nullptr) *count = 1;
    return 0;
  }
  const bool numbers = type == kInt64 && room > 0 && values != nullptr;
  if (numbers) memset(values, 0, sizeof(int64_t) * static_cast<size_t>(room));
  if (numbers && name == kPlanWorkspace) {
    Set seen;
    std::lock_guard<std::mutex> lock(mutex);
    *static_cast<int64_t*>(values) = static_cast<int64_t>(WorkBytes(LargestTensor(descriptor, &seen)));
  }
  if (count != nullptr) *count = type == kInt64 ? room : 0;
  return 0;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
