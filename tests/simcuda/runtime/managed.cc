// SPDX-License-Identifier: Apache-2.0
// Advice on managed memory. All of it stays in host memory, so nothing is moved.
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

cudaError_t Advise() { return Done(Bind()); }

cudaError_t Prefetch(cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  unsigned flags;
  return Done(DRIVER(cuStreamGetFlags)(stream, &flags));
}

}  // namespace

extern "C" {

#if CUDART_VERSION >= 13000
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return Advise(); }
cudaError_t cudaMemPrefetchAsync(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t stream) {
  return Prefetch(stream);
}
#else
cudaError_t cudaMemAdvise(const void*, size_t, cudaMemoryAdvise, int) { return Advise(); }
cudaError_t cudaMemPrefetchAsync(const void*, size_t, int, cudaStream_t stream) { return Prefetch(stream); }
cudaError_t cudaMemAdvise_v2(const void*, size_t, cudaMemoryAdvise, cudaMemLocation) { return Advise(); }
cudaError_t cudaMemPrefetchAsync_v2(const void*, size_t, cudaMemLocation, unsigned, cudaStream_t stream) {
  return Prefetch(stream);
}
#endif

}  // extern "C"

}  // namespace vramtrack::simcuda
