// SPDX-License-Identifier: Apache-2.0
// Kernels that nvcc compiled are registered, checked and launched, and do nothing.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

namespace {

__global__ void Fill(int* values, int value) { values[threadIdx.x] = value; }

__device__ int device_value = 5;
__constant__ float constants[100];

void Check(bool holds, const char* what, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: not so: %s\n", line, what);
  exit(1);
}
#define CHECK(condition) Check(condition, #condition, __LINE__)

}  // namespace

int main() {
  int* values = nullptr;
  CHECK(cudaMalloc(&values, 1024 * sizeof(int)) == cudaSuccess);
  CHECK(cudaMemset(values, 0, 1024 * sizeof(int)) == cudaSuccess);
  Fill<<<1, 1024>>>(values, 7);
  CHECK(cudaGetLastError() == cudaSuccess);
  CHECK(cudaDeviceSynchronize() == cudaSuccess);
  int received = -1;
  CHECK(cudaMemcpy(&received, values, sizeof(received), cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(received == 0);

  Fill<<<1, 1025>>>(values, 7);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  Fill<<<0, 32>>>(values, 7);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  Fill<<<dim3(1, 70000), 32>>>(values, 7);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  Fill<<<1, 32, 1 << 20>>>(values, 7);
  CHECK(cudaGetLastError() == cudaErrorInvalidConfiguration);
  CHECK(cudaGetLastError() == cudaSuccess);

  int value = 7;
  void* arguments[] = {&values, &value};
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(Fill), dim3(2), dim3(32), arguments, 0, nullptr) == cudaSuccess);
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(2);
  config.blockDim = dim3(64);
  CHECK(cudaLaunchKernelEx(&config, Fill, values, 7) == cudaSuccess);
  CHECK(cudaLaunchKernel(reinterpret_cast<const void*>(main), dim3(1), dim3(1), arguments, 0, nullptr) ==
        cudaErrorInvalidDeviceFunction);
  cudaFuncAttributes attributes;
  CHECK(cudaFuncGetAttributes(&attributes, Fill) == cudaSuccess);
  CHECK(attributes.maxThreadsPerBlock == 1024);
  int blocks = 0;
  CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, Fill, 256, 0) == cudaSuccess);
  CHECK(blocks == 8);

  // A variable of the device is memory like any other; its first value is in code that nobody reads.
  size_t bytes = 0;
  CHECK(cudaGetSymbolSize(&bytes, constants) == cudaSuccess);
  CHECK(bytes == 400);
  const int sent = 42;
  CHECK(cudaMemcpyToSymbol(device_value, &sent, sizeof(sent)) == cudaSuccess);
  CHECK(cudaMemcpyFromSymbol(&received, device_value, sizeof(received)) == cudaSuccess);
  CHECK(received == 42);
  CHECK(cudaMemcpyToSymbol(device_value, &sent, sizeof(sent), 1) == cudaErrorInvalidValue);

  // A graph of launches.
  cudaStream_t stream;
  CHECK(cudaStreamCreate(&stream) == cudaSuccess);
  CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal) == cudaSuccess);
  for (int launch = 0; launch < 3; ++launch) Fill<<<1, 32, 0, stream>>>(values, launch);
  cudaGraph_t graph;
  CHECK(cudaStreamEndCapture(stream, &graph) == cudaSuccess);
  size_t nodes = 0;
  CHECK(cudaGraphGetNodes(graph, nullptr, &nodes) == cudaSuccess);
  CHECK(nodes == 3);
  CHECK(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaStreamDestroy(stream) == cudaSuccess);
  CHECK(cudaFree(values) == cudaSuccess);
  return 0;
}
