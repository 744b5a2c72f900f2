// SPDX-License-Identifier: Apache-2.0
//
// Calls every hooked entry point once, and frees what it got.
#include <cuda_runtime_api.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "vramtrack/vramtrack.h"

namespace {

int failures = 0;

void Check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::printf("%s: %s\n", what, cudaGetErrorName(error));
  ++failures;
}
#define CHECK(call) Check(call, #call)

void DeviceMemory() {
  void *a, *b, *c;
  size_t pitch;
  cudaPitchedPtr p3;
  CHECK(cudaMalloc(&a, 1000));
  CHECK(cudaMallocPitch(&b, &pitch, 100, 10));
  CHECK(cudaMalloc3D(&p3, cudaExtent{64, 8, 4}));
  CHECK(cudaMallocManaged(&c, 5000));
  for (void* p : {a, b, p3.ptr, c}) CHECK(cudaFree(p));
  CHECK(cudaFree(nullptr));
}

void Arrays() {
  cudaArray_t a, b;
  cudaMipmappedArray_t m;
  const cudaChannelFormatDesc desc = {32, 32, 0, 0, cudaChannelFormatKindFloat};
  CHECK(cudaMallocArray(&a, &desc, 64, 32));
  CHECK(cudaMalloc3DArray(&b, &desc, cudaExtent{16, 16, 16}));
  CHECK(cudaMallocMipmappedArray(&m, &desc, cudaExtent{64, 64, 0}, 4));
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));
  CHECK(cudaFreeMipmappedArray(m));
}

void StreamOrdered() {
  cudaStream_t stream;
  cudaMemPool_t pool;
  cudaMemPoolProps props;
  std::memset(&props, 0, sizeof props);
  props.allocType = cudaMemAllocationTypePinned;
  props.location.type = cudaMemLocationTypeDevice;
  void *a, *b;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaMemPoolCreate(&pool, &props));
  CHECK(cudaMallocAsync(&a, 3000, stream));
  CHECK(cudaMallocFromPoolAsync(&b, 4000, pool, stream));
  CHECK(cudaFreeAsync(a, stream));
  CHECK(cudaFreeAsync(b, stream));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemPoolDestroy(pool));
  CHECK(cudaStreamDestroy(stream));
}

void HostMemory() {
  void *a, *b;
  void* own = std::aligned_alloc(4096, 8192);
  CHECK(cudaMallocHost(&a, 700));
  CHECK(cudaHostAlloc(&b, 800, cudaHostAllocMapped));
  CHECK(cudaHostRegister(own, 8192, cudaHostRegisterDefault));
  CHECK(cudaHostUnregister(own));
  CHECK(cudaFreeHost(a));
  CHECK(cudaFreeHost(b));
  std::free(own);
}

void Handles() {
  cudaStream_t a, b;
  cudaEvent_t e, f;
  CHECK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
  CHECK(cudaStreamCreateWithPriority(&b, cudaStreamNonBlocking, 0));
  CHECK(cudaEventCreate(&e));
  CHECK(cudaEventCreateWithFlags(&f, cudaEventDisableTiming));
  CHECK(cudaEventDestroy(e));
  CHECK(cudaEventDestroy(f));

  cudaGraph_t created, captured, cloned;
  cudaGraphExec_t exec, exec_with_flags;
  CHECK(cudaGraphCreate(&created, 0));
  CHECK(cudaGraphClone(&cloned, created));
  CHECK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaStreamEndCapture(a, &captured));
#if CUDART_VERSION >= 12000
  CHECK(cudaGraphInstantiate(&exec, created, 0));
#else
  CHECK(cudaGraphInstantiate(&exec, created, nullptr, nullptr, 0));
#endif
  CHECK(cudaGraphInstantiateWithFlags(&exec_with_flags, captured, 0));
  CHECK(cudaGraphExecDestroy(exec));
  CHECK(cudaGraphExecDestroy(exec_with_flags));
  for (cudaGraph_t g : {created, captured, cloned}) CHECK(cudaGraphDestroy(g));
  CHECK(cudaStreamDestroy(a));
  CHECK(cudaStreamDestroy(b));
}

}  // namespace

int main() {
  int device, version;
  size_t free, total;
  cudaDeviceProp properties;
  CHECK(cudaSetDevice(0));
  CHECK(cudaGetDevice(&device));
  CHECK(cudaGetDeviceProperties(&properties, device));
  CHECK(cudaMemGetInfo(&free, &total));
  CHECK(cudaRuntimeGetVersion(&version));
  CHECK(cudaDriverGetVersion(&version));
  DeviceMemory();
  Arrays();
  StreamOrdered();
  HostMemory();
  Handles();
  VRAMTRACK_STEP(7, 42.5);
  void* left;
  CHECK(cudaMalloc(&left, 12345));
  std::printf("%d failures\n", failures);
  return failures != 0;
}
