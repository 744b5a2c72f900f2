// SPDX-License-Identifier: Apache-2.0
//
// Another tool's preload library whose cudaMalloc takes virtual memory, so that it can be taken away and given back
// while the program keeps its pointers; torch_memory_saver does this.
#include <cuda.h>
#include <dlfcn.h>

#include <map>
#include <mutex>

namespace {

struct Saved {
  size_t bytes;
  CUmemGenericAllocationHandle memory;
};

std::mutex mutex;
std::map<CUdeviceptr, Saved> all;

// The runtime has loaded the driver by the first call. Asked by name, whoever is preloaded is met first, as when
// linked.
#define DRIVER(function)                                                                         \
  (*[] {                                                                                         \
    static const auto f = reinterpret_cast<decltype(&function)>(dlsym(RTLD_DEFAULT, #function)); \
    return f;                                                                                    \
  }())

constexpr CUmemAllocationProp kOnDevice = {
    CU_MEM_ALLOCATION_TYPE_PINNED, CU_MEM_HANDLE_TYPE_NONE, {CU_MEM_LOCATION_TYPE_DEVICE, {0}}, nullptr, {}};

CUresult Fill(CUdeviceptr at, Saved* saved) {
  CUresult result = DRIVER(cuMemCreate)(&saved->memory, saved->bytes, &kOnDevice, 0);
  if (result == CUDA_SUCCESS) result = DRIVER(cuMemMap)(at, saved->bytes, 0, saved->memory, 0);
  const CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, {0}}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
  return result == CUDA_SUCCESS ? DRIVER(cuMemSetAccess)(at, saved->bytes, &access, 1) : result;
}

CUresult Empty(CUdeviceptr at, Saved* saved) {
  const CUresult result = DRIVER(cuMemUnmap)(at, saved->bytes);
  const CUresult released = DRIVER(cuMemRelease)(saved->memory);
  saved->memory = 0;
  return result == CUDA_SUCCESS ? released : result;
}

template <typename Each>
int EachSaved(Each each) {
  const std::lock_guard<std::mutex> hold(mutex);
  int errors = 0;
  for (auto& [at, saved] : all) errors += each(at, &saved) != CUDA_SUCCESS;
  return errors;
}

}  // namespace

extern "C" {

int cudaMalloc(void** pointer, size_t bytes) {
  constexpr size_t kPage = 2 << 20;
  Saved saved = {(bytes + kPage - 1) / kPage * kPage, 0};
  CUdeviceptr at = 0;
  CUresult result = DRIVER(cuMemAddressReserve)(&at, saved.bytes, 0, 0, 0);
  if (result == CUDA_SUCCESS) result = Fill(at, &saved);
  if (result != CUDA_SUCCESS) return 2;
  const std::lock_guard<std::mutex> hold(mutex);
  all[at] = saved;
  *pointer = reinterpret_cast<void*>(at);
  return 0;
}

int cudaFree(void* pointer) {
  const auto at = reinterpret_cast<CUdeviceptr>(pointer);
  const std::lock_guard<std::mutex> hold(mutex);
  const auto found = all.find(at);
  if (found == all.end()) {
    static const auto next = reinterpret_cast<int (*)(void*)>(dlsym(RTLD_NEXT, "cudaFree"));
    return next(pointer);
  }
  Saved saved = found->second;
  all.erase(found);
  if (saved.memory != 0 && Empty(at, &saved) != CUDA_SUCCESS) return 1;
  return DRIVER(cuMemAddressFree)(at, saved.bytes) == CUDA_SUCCESS ? 0 : 1;
}

// How many could not be.
int saver_pause() { return EachSaved(Empty); }
int saver_resume() { return EachSaved(Fill); }

}  // extern "C"
