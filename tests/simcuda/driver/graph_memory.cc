// SPDX-License-Identifier: Apache-2.0
// What graphs hold of a device's memory.
#include "tests/simcuda/driver/graph_memory.h"

#include <map>
#include <mutex>
#include <vector>

#include "tests/simcuda/device/device.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

struct Registry {
  std::recursive_mutex mutex;  // an allocation that goes away while the list is walked takes itself off it
  std::map<const void*, std::weak_ptr<GraphAllocation>> allocations;
  // What is live must be freed by the program, even when its graph is gone.
  std::map<const void*, std::shared_ptr<GraphAllocation>> live;
};

Registry& GetRegistry() {
  static Registry* registry = new Registry;
  return *registry;
}

void Raise(std::atomic<uint64_t>* high, uint64_t value) {
  uint64_t seen = high->load();
  while (seen < value && !high->compare_exchange_weak(seen, value)) {
  }
}

// Wants the registry's lock.
void GiveBack(GraphAllocation* allocation) {
  if (allocation->memory == nullptr) return;
  VirtualMemory::Get().Unmap(allocation->address, allocation->reserved);
  VirtualMemory::Get().Drop(allocation->memory);
  allocation->memory = nullptr;
  GetDevice(allocation->device).graph_reserved -= allocation->reserved;
}

}  // namespace

GraphAllocation::~GraphAllocation() {
  Registry& registry = GetRegistry();
  std::lock_guard<std::recursive_mutex> lock(registry.mutex);
  registry.allocations.erase(address);
  if (live) GetDevice(device).graph_used -= bytes;
  GiveBack(this);
  VirtualMemory::Get().Release(address, reserved);
}

std::shared_ptr<GraphAllocation> MakeGraphAllocation(int device, size_t bytes) {
  auto allocation = std::make_shared<GraphAllocation>();
  allocation->device = device;
  allocation->bytes = bytes;
  allocation->reserved = (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
  if (VirtualMemory::Get().Reserve(allocation->reserved, 0, nullptr, &allocation->address) !=
      VirtualMemory::Result::kOk) {
    return nullptr;
  }
  Registry& registry = GetRegistry();
  std::lock_guard<std::recursive_mutex> lock(registry.mutex);
  registry.allocations[allocation->address] = allocation;
  return allocation;
}

CUresult StartGraphAllocation(GraphAllocation* allocation) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::recursive_mutex> lock(registry.mutex);
  if (allocation->live) return CUDA_ERROR_INVALID_VALUE;
  Device& device = GetDevice(allocation->device);
  if (allocation->memory == nullptr) {
    VirtualMemory& virtual_memory = VirtualMemory::Get();
    if (virtual_memory.Create(allocation->device, allocation->reserved, 0, &allocation->memory) !=
        VirtualMemory::Result::kOk) {
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    virtual_memory.Map(allocation->address, allocation->reserved, 0, allocation->memory);
    virtual_memory.SetAccess(allocation->address, allocation->reserved, 3);
    Raise(&device.graph_reserved_high, device.graph_reserved += allocation->reserved);
  }
  allocation->live = true;
  registry.live[allocation->address] = allocation->shared_from_this();
  Raise(&device.graph_used_high, device.graph_used += allocation->bytes);
  return CUDA_SUCCESS;
}

CUresult EndGraphAllocation(GraphAllocation* allocation) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::recursive_mutex> lock(registry.mutex);
  if (!allocation->live) return CUDA_ERROR_INVALID_VALUE;
  allocation->live = false;
  GetDevice(allocation->device).graph_used -= allocation->bytes;
  registry.live.erase(allocation->address);  // perhaps the last that held it
  return CUDA_SUCCESS;
}

std::shared_ptr<GraphAllocation> FindGraphAllocation(const void* address) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::recursive_mutex> lock(registry.mutex);
  auto found = registry.allocations.find(address);
  return found == registry.allocations.end() ? nullptr : found->second.lock();
}

bool FreeGraphMemory(void* address) {
  const std::shared_ptr<GraphAllocation> allocation = FindGraphAllocation(address);
  return allocation != nullptr && EndGraphAllocation(allocation.get()) == CUDA_SUCCESS;
}

void TrimGraphMemory(int device) {
  Registry& registry = GetRegistry();
  std::lock_guard<std::recursive_mutex> lock(registry.mutex);
  std::vector<std::shared_ptr<GraphAllocation>> alive;
  for (const auto& entry : registry.allocations) {
    if (auto allocation = entry.second.lock()) alive.push_back(std::move(allocation));
  }
  for (const auto& allocation : alive) {
    if (allocation->device == device && !allocation->live) GiveBack(allocation.get());
  }
}

extern "C" {

CUresult cuDeviceGetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void* value) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  Device& device = GetDevice(ordinal);
  cuuint64_t* bytes = static_cast<cuuint64_t*>(value);
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      *bytes = device.graph_used;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      *bytes = device.graph_used_high;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      *bytes = device.graph_reserved;
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      *bytes = device.graph_reserved_high;
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice ordinal, CUgraphMem_attribute attribute, void*) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  Device& device = GetDevice(ordinal);
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      device.graph_used_high = device.graph_used.load();
      return CUDA_SUCCESS;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      device.graph_reserved_high = device.graph_reserved.load();
      return CUDA_SUCCESS;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

CUresult cuDeviceGraphMemTrim(CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  TrimGraphMemory(ordinal);
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
