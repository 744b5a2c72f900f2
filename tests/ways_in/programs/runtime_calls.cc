// SPDX-License-Identifier: Apache-2.0
//
// Each family of the runtime's API once. A program by itself, and, with RUNTIME_CALLS_LIBRARY, a library that is
// loaded.
#include <cuda_runtime_api.h>

#include <cstdlib>
#include <cstring>

#include "tests/ways_in/programs/tally.h"

namespace {

vramtrack::Tally tally;

#define CHECK(call)                                           \
  do {                                                        \
    const cudaError_t error = (call);                         \
    if (error != cudaSuccess) tally.Wrong(#call, (int)error); \
  } while (false)

void DeviceMemory() {
  void *a, *b, *c;
  size_t pitch;
  cudaPitchedPtr p;
  CHECK(cudaMalloc(&a, 1000));
  tally.Allocated("device", 1000);
  CHECK(cudaMallocPitch(&b, &pitch, 100, 10));
  tally.Allocated("pitched", pitch * 10);
  CHECK(cudaMalloc3D(&p, cudaExtent{64, 8, 4}));
  tally.Allocated("pitched", p.pitch * 8 * 4);
  CHECK(cudaMallocManaged(&c, 5000));
  tally.Allocated("managed", 5000);
  CHECK(cudaFree(a));
  tally.Freed("device");
  CHECK(cudaFree(b));
  CHECK(cudaFree(p.ptr));
  tally.Freed("pitched");
  tally.Freed("pitched");
  CHECK(cudaFree(c));
  tally.Freed("managed");
  if (cudaMalloc(&a, size_t{1} << 60) == cudaErrorMemoryAllocation) tally.Failed("device");
  (void)cudaGetLastError();
}

void Arrays() {
  cudaArray_t a, b;
  cudaMipmappedArray_t m;
  const cudaChannelFormatDesc desc = {32, 32, 0, 0, cudaChannelFormatKindFloat};
  CHECK(cudaMallocArray(&a, &desc, 64, 32));
  CHECK(cudaMalloc3DArray(&b, &desc, cudaExtent{16, 16, 16}));
  CHECK(cudaMallocMipmappedArray(&m, &desc, cudaExtent{64, 64, 0}, 4));
  tally.Allocated("array", 64 * 32 * 8);
  tally.Allocated("array", 16 * 16 * 16 * 8);
  tally.Allocated("mipmapped_array", (64 * 64 + 32 * 32 + 16 * 16 + 8 * 8) * 8);
  CHECK(cudaFreeArray(a));
  CHECK(cudaFreeArray(b));
  CHECK(cudaFreeMipmappedArray(m));
  tally.Freed("array");
  tally.Freed("array");
  tally.Freed("mipmapped_array");
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
  tally.Allocated("stream", 0);
  CHECK(cudaMemPoolCreate(&pool, &props));
  tally.Allocated("memory_pool", 0);
  CHECK(cudaMallocAsync(&a, 3000, stream));
  tally.Allocated("stream_ordered", 3000);
  CHECK(cudaMallocFromPoolAsync(&b, 4000, pool, stream));
  tally.Allocated("pool", 4000);
  CHECK(cudaFreeAsync(a, stream));
  tally.Freed("stream_ordered");
  CHECK(cudaFreeAsync(b, stream));
  tally.Freed("pool");
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaMemPoolTrimTo(pool, 0));
  CHECK(cudaMemPoolDestroy(pool));
  tally.Freed("memory_pool");
  CHECK(cudaStreamDestroy(stream));
  tally.Freed("stream");
}

void HostMemory() {
  void *a, *b;
  void* own = std::aligned_alloc(4096, 8192);
  CHECK(cudaMallocHost(&a, 700));
  CHECK(cudaHostAlloc(&b, 800, cudaHostAllocMapped | cudaHostAllocWriteCombined));
  tally.Allocated("pinned", 700);
  tally.Allocated("pinned", 800);
  CHECK(cudaHostRegister(own, 8192, cudaHostRegisterDefault));
  tally.Allocated("registered", 8192);
  CHECK(cudaHostUnregister(own));
  tally.Freed("registered");
  CHECK(cudaFreeHost(a));
  CHECK(cudaFreeHost(b));
  tally.Freed("pinned");
  tally.Freed("pinned");
  std::free(own);
}

void GraphMemory() {
  cudaGraph_t graph;
  cudaGraphNode_t allocating, freeing;
  cudaMemAllocNodeParams parameters;
  std::memset(&parameters, 0, sizeof parameters);
  parameters.poolProps.allocType = cudaMemAllocationTypePinned;
  parameters.poolProps.location.type = cudaMemLocationTypeDevice;
  parameters.bytesize = 6000;
  CHECK(cudaGraphCreate(&graph, 0));
  tally.Allocated("graph", 0);
  CHECK(cudaGraphAddMemAllocNode(&allocating, graph, nullptr, 0, &parameters));
  tally.Allocated("graph_memory", 6000);
  CHECK(cudaGraphAddMemFreeNode(&freeing, graph, &allocating, 1, parameters.dptr));
  tally.Freed("graph_memory");
  CHECK(cudaGraphDestroy(graph));
  tally.Freed("graph");
  CHECK(cudaDeviceGraphMemTrim(0));
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
  for (int i = 0; i < 2; ++i) {
    tally.Allocated("stream", 0);
    tally.Allocated("event", 0);
    tally.Freed("stream");
    tally.Freed("event");
  }

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
  for (int i = 0; i < 3; ++i) {
    tally.Allocated("graph", 0);
    tally.Freed("graph");
  }
  for (int i = 0; i < 2; ++i) {
    tally.Allocated("graph_exec", 0);
    tally.Freed("graph_exec");
  }
  CHECK(cudaStreamDestroy(a));
  CHECK(cudaStreamDestroy(b));
}

int RunAll() {
  // Whichever other runtimes there are, this code's own answers.
  int version = 0;
  CHECK(cudaRuntimeGetVersion(&version));
  if (version / 1000 != CUDART_VERSION / 1000) tally.Wrong("version", version);
  // A library that is bound past the hooks is found when the program makes a new stack.
  cudaStream_t first;
  CHECK(cudaStreamCreate(&first));
  tally.Allocated("stream", 0);
  cudaDeviceProp properties;
  CHECK(cudaGetDeviceProperties(&properties, 0));
  DeviceMemory();
  Arrays();
  StreamOrdered();
  HostMemory();
  GraphMemory();
  Handles();
  return tally.Print();
}

}  // namespace

#ifdef RUNTIME_CALLS_LIBRARY
extern "C" int runtime_calls() { return RunAll(); }
#else
int main() { return RunAll(); }
#endif
