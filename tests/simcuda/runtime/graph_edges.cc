// SPDX-License-Identifier: Apache-2.0
// Edges of graphs without and with data, and what CUDA 12 added besides: nodes from one structure, conditions.
#include <cstring>

#include "tests/simcuda/runtime/copies.h"
#include "tests/simcuda/runtime/driver.h"

#if CUDART_VERSION >= 12000

// CUDA 13 gave the plain names to the functions that take data of edges; in 12 those end in _v2.
#if CUDART_VERSION >= 13000
#define WITH_EDGES(name) name
#else
#define WITH_EDGES(name) name##_v2
#endif

namespace vramtrack::simcuda {
namespace {

static_assert(sizeof(cudaGraphNodeParams) == sizeof(CUgraphNodeParams),
              "the runtime's structures are passed on as the driver's");

CUgraphEdgeData* Edges(cudaGraphEdgeData* edges) { return reinterpret_cast<CUgraphEdgeData*>(edges); }
const CUgraphEdgeData* Edges(const cudaGraphEdgeData* edges) { return reinterpret_cast<const CUgraphEdgeData*>(edges); }

}  // namespace

extern "C" {

cudaError_t WITH_EDGES(cudaGraphAddNode)(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                         const cudaGraphEdgeData* edges, size_t count,
                                         cudaGraphNodeParams* parameters) {
  if (parameters == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  // The unions of both have the same members at the same places, but for a kernel's function and a copy.
  CUgraphNodeParams converted;
  memcpy(&converted, parameters, sizeof(converted));
  if (parameters->type == cudaGraphNodeTypeKernel) {
    cudaFunction_t function;
    const cudaError_t error = cudaGetFuncBySymbol(&function, parameters->kernel.func);
    if (error != cudaSuccess) return error;
    converted.kernel.func = function;
  } else if (parameters->type == cudaGraphNodeTypeMemcpy) {
    memset(&converted.memcpy, 0, sizeof(converted.memcpy));
    if (!ToDriverCopy(parameters->memcpy.copyParams, &converted.memcpy.copyParams)) {
      return Done(cudaErrorInvalidResourceHandle);
    }
  }
  const CUresult result = DRIVER(cuGraphAddNode_v2)(node, graph, dependencies, Edges(edges), count, &converted);
  if (result != CUDA_SUCCESS) return Done(result);
  if (parameters->type == cudaGraphNodeTypeMemAlloc) {
    parameters->alloc.dptr = reinterpret_cast<void*>(converted.alloc.dptr);
  } else if (parameters->type == cudaGraphNodeTypeConditional) {
    parameters->conditional.phGraph_out = converted.conditional.phGraph_out;
  }
  return cudaSuccess;
}

cudaError_t cudaGraphConditionalHandleCreate(cudaGraphConditionalHandle* handle, cudaGraph_t graph, unsigned value,
                                             unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphConditionalHandleCreate)(reinterpret_cast<CUgraphConditionalHandle*>(handle), graph,
                                                     nullptr, value, flags));
}

cudaError_t WITH_EDGES(cudaGraphGetEdges)(cudaGraph_t graph, cudaGraphNode_t* from, cudaGraphNode_t* to,
                                          cudaGraphEdgeData* edges, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphGetEdges_v2)(graph, from, to, Edges(edges), count));
}

cudaError_t WITH_EDGES(cudaGraphNodeGetDependencies)(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                     cudaGraphEdgeData* edges, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphNodeGetDependencies_v2)(node, nodes, Edges(edges), count));
}

cudaError_t WITH_EDGES(cudaGraphNodeGetDependentNodes)(cudaGraphNode_t node, cudaGraphNode_t* nodes,
                                                       cudaGraphEdgeData* edges, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphNodeGetDependentNodes_v2)(node, nodes, Edges(edges), count));
}

cudaError_t WITH_EDGES(cudaGraphAddDependencies)(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                 const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                                 size_t count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphAddDependencies_v2)(graph, from, to, Edges(edges), count));
}

cudaError_t WITH_EDGES(cudaGraphRemoveDependencies)(cudaGraph_t graph, const cudaGraphNode_t* from,
                                                    const cudaGraphNode_t* to, const cudaGraphEdgeData* edges,
                                                    size_t count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphRemoveDependencies_v2)(graph, from, to, Edges(edges), count));
}

cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                          const cudaGraphEdgeData* edges, size_t count, cudaStreamCaptureMode mode) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamBeginCaptureToGraph)(stream, graph, dependencies, Edges(edges), count,
                                                  static_cast<CUstreamCaptureMode>(mode)));
}

#if CUDART_VERSION >= 13000
cudaError_t cudaStreamGetCaptureInfo(
#else
cudaError_t cudaStreamGetCaptureInfo_v3(
#endif
    cudaStream_t stream, cudaStreamCaptureStatus* status, unsigned long long* id, cudaGraph_t* graph,
    const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamGetCaptureInfo_v3)(stream, reinterpret_cast<CUstreamCaptureStatus*>(status),
                                                reinterpret_cast<cuuint64_t*>(id), graph, dependencies,
                                                reinterpret_cast<const CUgraphEdgeData**>(edges), count));
}

cudaError_t WITH_EDGES(cudaStreamUpdateCaptureDependencies)(cudaStream_t stream, cudaGraphNode_t* dependencies,
                                                            const cudaGraphEdgeData* edges, size_t count,
                                                            unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamUpdateCaptureDependencies_v2)(stream, dependencies, Edges(edges), count, flags));
}

#if CUDART_VERSION < 13000
cudaError_t cudaGraphAddNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                             size_t count, cudaGraphNodeParams* parameters) {
  return cudaGraphAddNode_v2(node, graph, dependencies, nullptr, count, parameters);
}
#endif

}  // extern "C"

}  // namespace vramtrack::simcuda

#endif  // CUDART_VERSION

// The functions without data of edges, which CUDA 13 dropped: it gave their names to those with.
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
