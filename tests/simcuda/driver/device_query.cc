// SPDX-License-Identifier: Apache-2.0
// What devices there are and what they can do. The figures are those of a large data centre GPU, but for the compute
// capability and the memory, which the environment sets.
#include <cuda.h>

#include <cstdio>
#include <cstring>

#include "tests/simcuda/device/options.h"
#include "tests/simcuda/driver/current.h"

#undef cuDeviceGetUuid

namespace vramtrack::simcuda {
namespace {

constexpr char kName[] = "Simulated GPU";
constexpr int kFirstBus = 1;

int Attribute(int attribute, int ordinal) {
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
      return 64;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
    case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
      return 2147483647;
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
      return 65535;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
      return 49152;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return GetOptions().compute_major >= 9 ? 232448 : 166912;
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return GetOptions().compute_major >= 9 ? 233472 : 167936;
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
      return 1024;
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return 65536;
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
    case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
      return 32;
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
      return 1410000;
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
      return 1215000;
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
      return 5120;
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
      return 40 << 20;
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
      return 108;
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return 2048;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return GetOptions().compute_major;
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return GetOptions().compute_minor;
    case CU_DEVICE_ATTRIBUTE_INTEGRATED:
      return GetOptions().integrated;
    case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
    case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:
      return 512;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT:
      return 131072;
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT:
    case CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH:
      return 16384;
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
      return 3;
    case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
      return kFirstBus + ordinal;
    case CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES:
      return CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    case CU_DEVICE_ATTRIBUTE_GPU_OVERLAP:
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
    case CU_DEVICE_ATTRIBUTE_ECC_ENABLED:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
    case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY:
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS:
    case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
    case CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_IPC_EVENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS:
      return 1;
    default:
      return 0;
  }
}

CUresult Uuid(CUuuid* uuid, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (int index = 0; index < 16; ++index) uuid->bytes[index] = static_cast<char>(0x10 + index + ordinal);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuDeviceGetCount(int* count) {
  SIMCUDA_TRY(CheckInitialized());
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = DeviceCount();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char* name, int size, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (name == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(name, static_cast<size_t>(size), "%s", kName);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid(CUuuid* uuid, CUdevice ordinal) { return Uuid(uuid, ordinal); }
CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice ordinal) { return Uuid(uuid, ordinal); }

CUresult cuDeviceTotalMem_v2(size_t* bytes, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *bytes = GetDevice(ordinal).memory.total_bytes();
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (value == nullptr || attribute <= 0) return CUDA_ERROR_INVALID_VALUE;
  *value = Attribute(attribute, ordinal);
  return CUDA_SUCCESS;
}

CUresult cuDeviceComputeCapability(int* major, int* minor, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (major == nullptr || minor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *major = GetOptions().compute_major;
  *minor = GetOptions().compute_minor;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetPCIBusId(char* text, int size, CUdevice ordinal) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  if (text == nullptr || size <= 0) return CUDA_ERROR_INVALID_VALUE;
  snprintf(text, static_cast<size_t>(size), "0000:%02x:00.0", kFirstBus + ordinal);
  return CUDA_SUCCESS;
}

CUresult cuDeviceCanAccessPeer(int* can, CUdevice ordinal, CUdevice peer) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  SIMCUDA_TRY(CheckDevice(peer));
  if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *can = ordinal != peer;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetP2PAttribute(int* value, CUdevice_P2PAttribute attribute, CUdevice ordinal, CUdevice peer) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  SIMCUDA_TRY(CheckDevice(peer));
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *value = attribute == CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED && ordinal != peer;
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
