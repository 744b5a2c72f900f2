// SPDX-License-Identifier: Apache-2.0
// The functions without data of edges, which CUDA 13 dropped: it gave their names to those with.
#include "tests/simcuda/runtime/driver.h"

#if CUDART_VERSION < 13000

namespace vramtrack::simcuda {

extern "C" {

cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphGetEdges_v2)(graph, from, to, nullptr, count));
}

cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphNodeGetDependencies_v2)(node, nodes, nullptr, count));
}

cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t* nodes, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphNodeGetDependentNodes_v2)(node, nodes, nullptr, count));
}

cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                     size_t count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphAddDependencies_v2)(graph, from, to, nullptr, count));
}

cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t* from, const cudaGraphNode_t* to,
                                        size_t count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphRemoveDependencies_v2)(graph, from, to, nullptr, count));
}

// What a program calls cudaStreamGetCaptureInfo in its source from CUDA 12 on.
cudaError_t cudaStreamGetCaptureInfo_v2(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id,
                                        cudaGraph_t* graph, const cudaGraphNode_t** dependencies, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamGetCaptureInfo_v3)(stream, reinterpret_cast<CUstreamCaptureStatus*>(status),
                                                reinterpret_cast<cuuint64_t*>(id), graph, dependencies, nullptr,
                                                count));
}

// And before.
#undef cudaStreamGetCaptureInfo
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id) {
  return cudaStreamGetCaptureInfo_v2(stream, status, id, nullptr, nullptr, nullptr);
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t* dependencies, size_t count,
                                                unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamUpdateCaptureDependencies_v2)(stream, dependencies, nullptr, count, flags));
}

}  // extern "C"

}  // namespace vramtrack::simcuda

#endif  // CUDART_VERSION
