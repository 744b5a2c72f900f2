// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "tests/simcuda/device/options.h"
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

// Programs are compiled against these layouts. Sizes that other releases have too, see
// docs/internals/simulated-cuda.md.
#if CUDART_VERSION >= 13000
static_assert(sizeof(cudaDeviceProp) == 1008 && sizeof(cudaPointerAttributes) == 88, "not the layout of CUDA 13");
#elif CUDART_VERSION >= 12000
static_assert(sizeof(cudaDeviceProp) == 1032 && sizeof(cudaPointerAttributes) == 24, "not the layout of CUDA 12");
#elif CUDART_VERSION >= 11000
static_assert(sizeof(cudaDeviceProp) == 728 && sizeof(cudaPointerAttributes) == 24, "not the layout of CUDA 11");
#else
#error "only CUDA 11, 12 and 13 are simulated"
#endif
static_assert(sizeof(cudaFuncAttributes) == (CUDART_VERSION >= 12000 ? 144 : 56) && sizeof(cudaMemPoolProps) == 88,
              "not a known layout");

cudaError_t CheckDevice(int device) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess) return error;
  return device >= 0 && device < count ? cudaSuccess : cudaErrorInvalidDevice;
}

int Attribute(CUdevice_attribute attribute, int device) {
  int value = 0;
  DRIVER(cuDeviceGetAttribute)(&value, attribute, device);
  return value;
}

cudaError_t Properties(cudaDeviceProp* p, int device) {
  const auto get = [device](CUdevice_attribute attribute) { return Attribute(attribute, device); };
  memset(p, 0, sizeof(*p));
  DRIVER(cuDeviceGetName)(p->name, sizeof(p->name), device);
  DRIVER(cuDeviceGetUuid_v2)(reinterpret_cast<CUuuid*>(&p->uuid), device);
  DRIVER(cuDeviceTotalMem_v2)(&p->totalGlobalMem, device);
  p->sharedMemPerBlock = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  p->sharedMemPerBlockOptin = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  p->sharedMemPerMultiprocessor = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR));
  p->reservedSharedMemPerBlock = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK));
  p->regsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  p->regsPerMultiprocessor = get(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  p->warpSize = get(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  p->memPitch = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_MAX_PITCH));
  p->maxThreadsPerBlock = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  p->maxThreadsDim[0] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  p->maxThreadsDim[1] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y);
  p->maxThreadsDim[2] = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  p->maxGridSize[0] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  p->maxGridSize[1] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y);
  p->maxGridSize[2] = get(CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  p->totalConstMem = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY));
  p->major = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  p->minor = get(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  p->textureAlignment = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT));
  p->texturePitchAlignment = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT));
  p->surfaceAlignment = static_cast<size_t>(get(CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT));
  p->multiProcessorCount = get(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  p->maxThreadsPerMultiProcessor = get(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  p->maxBlocksPerMultiProcessor = get(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR);
  p->memoryBusWidth = get(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
  p->l2CacheSize = get(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  p->maxTexture1D = get(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH);
  p->asyncEngineCount = get(CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT);
  p->pciBusID = get(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID);
  p->ECCEnabled = get(CU_DEVICE_ATTRIBUTE_ECC_ENABLED);
  p->unifiedAddressing = get(CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING);
  p->managedMemory = get(CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY);
  p->concurrentManagedAccess = get(CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS);
  p->concurrentKernels = get(CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS);
  p->integrated = get(CU_DEVICE_ATTRIBUTE_INTEGRATED);
  p->canMapHostMemory = get(CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY);
  p->cooperativeLaunch = get(CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH);
  p->streamPrioritiesSupported = get(CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED);
  p->globalL1CacheSupported = get(CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED);
  p->localL1CacheSupported = get(CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED);
  p->computePreemptionSupported = get(CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED);
#if CUDART_VERSION >= 12000
  p->hostRegisterSupported = get(CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED);
  p->memoryPoolsSupported = get(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  p->memoryPoolSupportedHandleTypes = static_cast<unsigned>(get(CU_DEVICE_ATTRIBUTE_MEMPOOL_SUPPORTED_HANDLE_TYPES));
#endif
#if CUDART_VERSION < 13000
  p->clockRate = get(CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
  p->memoryClockRate = get(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
  p->deviceOverlap = get(CU_DEVICE_ATTRIBUTE_GPU_OVERLAP);
#endif
  return cudaSuccess;
}

}  // namespace

extern "C" {

cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return Done(cudaErrorInvalidValue);
  return Done(DRIVER(cuDriverGetVersion)(version));
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return Done(cudaErrorInvalidValue);
  *version = GetOptions().runtime_version != 0 ? GetOptions().runtime_version : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return Done(cudaErrorInvalidValue);
  *count = 0;
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceGetCount)(count));
}

cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Initialize());
  *device = ThreadDevice();
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  RUNTIME_TRY(CheckDevice(device));
  return Done(MakeCurrent(device));
}

cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  RUNTIME_TRY(CheckDevice(device));
  const int before = ThreadDevice();
  RUNTIME_TRY(MakeCurrent(device));
  return Done(MakeCurrent(before));
}

cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp*) {
  if (device == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(CheckDevice(0));
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDevicePrimaryCtxGetState)(ThreadDevice(), flags, nullptr));
}

cudaError_t cudaSetDeviceFlags(unsigned flags) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDevicePrimaryCtxSetFlags_v2)(ThreadDevice(), flags));
}

cudaError_t cudaDeviceSynchronize() {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuCtxSynchronize)());
}

cudaError_t cudaDeviceReset() {
  RUNTIME_TRY(Initialize());
  const int device = ThreadDevice();
  const CUresult result = DRIVER(cuDevicePrimaryCtxReset_v2)(device);
  ForgetContext(device);
  return Done(result);
}

// 12's headers call the function that fills their structure ..._v2.
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(CheckDevice(device));
  return Done(Properties(properties, device));
}

// The numbers of the attributes are the driver's.
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(CheckDevice(device));
  return Done(DRIVER(cuDeviceGetAttribute)(value, static_cast<CUdevice_attribute>(attribute), device));
}

cudaError_t cudaDeviceGetPCIBusId(char* text, int size, int device) {
  RUNTIME_TRY(CheckDevice(device));
  return Done(DRIVER(cuDeviceGetPCIBusId)(text, size, device));
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuCtxGetStreamPriorityRange)(least, greatest));
}

cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceCanAccessPeer)(can, device, peer));
}

cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int device, int peer) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceGetP2PAttribute)(value, static_cast<CUdevice_P2PAttribute>(attribute), device, peer));
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  RUNTIME_TRY(Bind());
  RUNTIME_TRY(CheckDevice(peer));
  CUcontext context;
  RUNTIME_TRY(static_cast<cudaError_t>(DRIVER(cuDevicePrimaryCtxRetain)(&context, peer)));
  const CUresult result = DRIVER(cuCtxEnablePeerAccess)(context, flags);
  DRIVER(cuDevicePrimaryCtxRelease_v2)(peer);
  return Done(result);
}

cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  RUNTIME_TRY(Bind());
  RUNTIME_TRY(CheckDevice(peer));
  CUcontext context;
  RUNTIME_TRY(static_cast<cudaError_t>(DRIVER(cuDevicePrimaryCtxRetain)(&context, peer)));
  const CUresult result = DRIVER(cuCtxDisablePeerAccess)(context);
  DRIVER(cuDevicePrimaryCtxRelease_v2)(peer);
  return Done(result);
}

cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuCtxSetLimit)(static_cast<CUlimit>(limit), value));
}

cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuCtxGetLimit)(value, static_cast<CUlimit>(limit)));
}

cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache config) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuCtxSetCacheConfig)(static_cast<CUfunc_cache>(config)));
}

cudaError_t cudaDeviceSetSharedMemConfig(cudaSharedMemConfig config) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuCtxSetSharedMemConfig)(static_cast<CUsharedconfig>(config)));
}

cudaError_t cudaCtxResetPersistingL2Cache() {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuCtxResetPersistingL2Cache)());
}

cudaError_t cudaProfilerStart() { return cudaSuccess; }
cudaError_t cudaProfilerStop() { return cudaSuccess; }

}  // extern "C"

}  // namespace vramtrack::simcuda
