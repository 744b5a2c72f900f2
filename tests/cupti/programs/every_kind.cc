// SPDX-License-Identifier: Apache-2.0
//
// Does one thing of each kind that CUPTI has records of, in known numbers, and prints the addresses that they are of.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if __has_include(<nvtx3/nvToolsExt.h>)
#include <nvtx3/nvToolsExt.h>
#define HAS_NVTX 1
#endif

namespace {

void Check(int error, int line) {
  if (error == 0) return;
  printf("error %d in line %d\n", error, line);
  fflush(stdout);
  abort();
}
#define CHECK(call) Check(static_cast<int>(call), __LINE__)

// A tool of its own that numbers regions, with the CUPTI that is there already.
void ExternalRegion(void (*inside)()) {
  void* cupti = dlopen("libcupti.so.13", RTLD_NOW | RTLD_NOLOAD);
  if (cupti == nullptr) return inside();
  const auto push = reinterpret_cast<int (*)(int, uint64_t)>(dlsym(cupti, "cuptiActivityPushExternalCorrelationId"));
  const auto pop = reinterpret_cast<int (*)(int, uint64_t*)>(dlsym(cupti, "cuptiActivityPopExternalCorrelationId"));
  constexpr int kCustom = 4;
  CHECK(push(kCustom, 4711));
  inside();
  uint64_t last = 0;
  CHECK(pop(kCustom, &last));
  if (last != 4711) abort();
}

}  // namespace

int main() {
  int devices = 0;
  CHECK(cudaGetDeviceCount(&devices));  // the first call: CUPTI is not there before
  void* memory = nullptr;
  CHECK(cudaMalloc(&memory, 8192));
  void* other = nullptr;
  CHECK(cudaMalloc(&other, 4096));
  CHECK(cudaFree(other));
  ExternalRegion([] {
    void* inside = nullptr;
    CHECK(cudaMalloc(&inside, 2048));
    CHECK(cudaFree(inside));
  });

  CUdeviceptr driver = 0;
  CHECK(cuMemAlloc(&driver, 1 << 16));
  CHECK(cuMemFree(driver));

  cudaStream_t stream;
  cudaEvent_t event;
  CHECK(cudaStreamCreate(&stream));
  CHECK(cudaEventCreate(&event));
  CHECK(cudaMemsetAsync(memory, 0, 512, stream));
  CHECK(cudaEventRecord(event, stream));
  CHECK(cudaStreamWaitEvent(stream, event, 0));
  CHECK(cudaStreamSynchronize(stream));
  CHECK(cudaEventSynchronize(event));
  CHECK(cudaDeviceSynchronize());

  cudaGraph_t graph;
  cudaGraphExec_t exec;
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
  CHECK(cudaMemsetAsync(memory, 0, 1024, stream));
  CHECK(cudaStreamEndCapture(stream, &graph));
  CHECK(cudaGraphInstantiateWithFlags(&exec, graph, 0));
  for (int i = 0; i < 3; ++i) CHECK(cudaGraphLaunch(exec, stream));

#ifdef HAS_NVTX
  nvtxMarkA("a mark");
  nvtxRangePushA("a range");
  nvtxRangePop();
#endif

  // Unified memory's counters begin some time behind the driver's initialization: the same again and again.
  void* managed = nullptr;
  CHECK(cudaMallocManaged(&managed, 1 << 20));
  for (int i = 0; i < 50; ++i) {
    CHECK(cudaMemPrefetchAsync(managed, 1 << 20, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, stream));
    CHECK(cudaMemPrefetchAsync(managed, 1 << 20, cudaMemLocation{cudaMemLocationTypeHost, 0}, 0, stream));
    usleep(10000);
  }
  printf("%p %p\n", memory, managed);
  return 0;
}
