// SPDX-License-Identifier: Apache-2.0
// What graphs hold of a device's memory.
#include <cuda.h>

#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/graph_memory.h"

namespace vramtrack::simcuda {

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
