// SPDX-License-Identifier: Apache-2.0
// Advice on managed memory.
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

cudaError_t Advise() { return Done(Bind()); }

cudaError_t Prefetch(const void* address, size_t bytes, cudaMemLocation to, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  CUmemLocation location = {};
  location.type = static_cast<CUmemLocationType>(to.type);
  location.id = to.id;
  return Done(DRIVER(cuMemPrefetchAsync_v2)(ToPointer(address), bytes, location, 0, stream));
}

}  // namespace

extern "C" {

#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return Advise(); }
cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, cudaMemLocation to, unsigned, cudaStream_t stream) {
  return Prefetch(address, bytes, to, stream);
}
#else
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return Advise(); }
cudaError_t cudaMemPrefetchAsync(const void* address, size_t bytes, int device, cudaStream_t stream) {
  const auto type = device == cudaCpuDeviceId ? cudaMemLocationTypeInvalid : cudaMemLocationTypeDevice;
  return Prefetch(address, bytes, {type, device}, stream);
}
cudaError_t cudaMemAdvise_v2(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return Advise(); }
cudaError_t cudaMemPrefetchAsync_v2(const void* address, size_t bytes, cudaMemLocation to, unsigned,
                                    cudaStream_t stream) {
  return Prefetch(address, bytes, to, stream);
}
#endif

}  // extern "C"

}  // namespace vramtrack::simcuda
