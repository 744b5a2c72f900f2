// SPDX-License-Identifier: Apache-2.0
// Graphs and stream capture. The handles are the driver's.

#include "tests/simcuda/runtime/copies.h"
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

static_assert(sizeof(cudaMemAllocNodeParams) == sizeof(CUDA_MEM_ALLOC_NODE_PARAMS),
              "the runtime's structures are passed on as the driver's");

CUDA_MEMSET_NODE_PARAMS ToDriverFill(const cudaMemsetParams& p) {
  CUDA_MEMSET_NODE_PARAMS fill = {};
  fill.dst = ToPointer(p.dst);
  fill.pitch = p.pitch;
  fill.value = p.value;
  fill.elementSize = p.elementSize;
  fill.width = p.width;
  fill.height = p.height;
  return fill;
}

CUDA_KERNEL_NODE_PARAMS ToDriverKernel(const cudaKernelNodeParams& p, CUfunction function) {
  CUDA_KERNEL_NODE_PARAMS kernel = {};
  kernel.func = function;
  kernel.gridDimX = p.gridDim.x;
  kernel.gridDimY = p.gridDim.y;
  kernel.gridDimZ = p.gridDim.z;
  kernel.blockDimX = p.blockDim.x;
  kernel.blockDimY = p.blockDim.y;
  kernel.blockDimZ = p.blockDim.z;
  kernel.sharedMemBytes = p.sharedMemBytes;
  return kernel;
}

}  // namespace

extern "C" {

cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphCreate)(graph, flags));
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphDestroy)(graph));
}

cudaError_t cudaGraphClone(cudaGraph_t* clone, cudaGraph_t graph) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphClone)(clone, graph));
}

cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                  size_t count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphAddEmptyNode)(node, graph, dependencies, count));
}

cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaKernelNodeParams* parameters) {
  if (parameters == nullptr) return Done(cudaErrorInvalidValue);
  cudaFunction_t function;
  const cudaError_t error = cudaGetFuncBySymbol(&function, parameters->func);
  if (error != cudaSuccess) return error;
  const CUDA_KERNEL_NODE_PARAMS kernel = ToDriverKernel(*parameters, function);
  return Done(DRIVER(cuGraphAddKernelNode_v2)(node, graph, dependencies, count, &kernel));
}

cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  CUDA_MEMCPY3D copy;
  if (!ToDriverCopy(*parameters, &copy)) return Done(cudaErrorInvalidResourceHandle);
  return Done(DRIVER(cuGraphAddMemcpyNode)(node, graph, dependencies, count, &copy, nullptr));
}

cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = {const_cast<void*>(from), bytes, bytes, 1};
  copy.dstPtr = {to, bytes, bytes, 1};
  copy.extent = {bytes, 1, 1};
  copy.kind = kind;
  return cudaGraphAddMemcpyNode(node, graph, dependencies, count, &copy);
}

cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                   size_t count, const cudaMemsetParams* parameters) {
  if (parameters == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  const CUDA_MEMSET_NODE_PARAMS fill = ToDriverFill(*parameters);
  return Done(DRIVER(cuGraphAddMemsetNode)(node, graph, dependencies, count, &fill, nullptr));
}

cudaError_t cudaGraphAddHostNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                 size_t count, const cudaHostNodeParams* parameters) {
  if (parameters == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  const CUDA_HOST_NODE_PARAMS host = {parameters->fn, parameters->userData};
  return Done(DRIVER(cuGraphAddHostNode)(node, graph, dependencies, count, &host));
}

cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                       size_t count, cudaGraph_t child) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphAddChildGraphNode)(node, graph, dependencies, count, child));
}

cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                        size_t count, cudaEvent_t event) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphAddEventRecordNode)(node, graph, dependencies, count, event));
}

cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                      size_t count, cudaEvent_t event) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphAddEventWaitNode)(node, graph, dependencies, count, event));
}

cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                     size_t count, cudaMemAllocNodeParams* parameters) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphAddMemAllocNode)(node, graph, dependencies, count,
                                             reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(parameters)));
}

cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node, cudaMemAllocNodeParams* parameters) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphMemAllocNodeGetParams)(node, reinterpret_cast<CUDA_MEM_ALLOC_NODE_PARAMS*>(parameters)));
}

cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t* node, cudaGraph_t graph, const cudaGraphNode_t* dependencies,
                                    size_t count, void* address) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphAddMemFreeNode)(node, graph, dependencies, count, ToPointer(address)));
}

cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void* address) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphMemFreeNodeGetParams)(node, static_cast<CUdeviceptr*>(address)));
}

cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphDestroyNode)(node));
}

cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, cudaGraphNodeType* type) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphNodeGetType)(node, reinterpret_cast<CUgraphNodeType*>(type)));
}

cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphGetNodes)(graph, nodes, count));
}

cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, size_t* count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphGetRootNodes)(graph, nodes, count));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphInstantiateWithFlags)(exec, graph, flags));
}

#if CUDART_VERSION >= 12000
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(exec, graph, flags);
}

cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t* exec, cudaGraph_t graph,
                                           cudaGraphInstantiateParams* parameters) {
  RUNTIME_TRY(Bind());
  return Done(
      DRIVER(cuGraphInstantiateWithParams)(exec, graph, reinterpret_cast<CUDA_GRAPH_INSTANTIATE_PARAMS*>(parameters)));
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphExecUpdateResultInfo* info) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphExecUpdate_v2)(exec, graph, reinterpret_cast<CUgraphExecUpdateResultInfo*>(info)));
}
#else
// Five parameters before 12.0. No graph of this device has anything to say about an error.
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* error_node, char* log,
                                 size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes > 0) *log = '\0';
  return cudaGraphInstantiateWithFlags(exec, graph, 0);
}

cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph, cudaGraphNode_t* error_node,
                                cudaGraphExecUpdateResult* result) {
  RUNTIME_TRY(Bind());
  CUgraphExecUpdateResultInfo info = {};
  const CUresult updated = DRIVER(cuGraphExecUpdate_v2)(exec, graph, &info);
  if (error_node != nullptr) *error_node = info.errorNode;
  if (result != nullptr) *result = static_cast<cudaGraphExecUpdateResult>(info.result);
  return Done(updated);
}
#endif

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphExecDestroy)(exec));
}

cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphUpload)(exec, stream));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphLaunch)(exec, stream));
}

cudaError_t cudaUserObjectCreate(cudaUserObject_t* object, void* pointer, cudaHostFn_t destroy, unsigned count,
                                 unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuUserObjectCreate)(object, pointer, destroy, count, flags));
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuUserObjectRetain)(object, count));
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuUserObjectRelease)(object, count));
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count, unsigned flags) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphRetainUserObject)(graph, object, count, flags));
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t graph, cudaUserObject_t object, unsigned count) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuGraphReleaseUserObject)(graph, object, count));
}

cudaError_t cudaDeviceGetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceGetGraphMemAttribute)(device, static_cast<CUgraphMem_attribute>(attribute), value));
}

cudaError_t cudaDeviceSetGraphMemAttribute(int device, cudaGraphMemAttributeType attribute, void* value) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceSetGraphMemAttribute)(device, static_cast<CUgraphMem_attribute>(attribute), value));
}

cudaError_t cudaDeviceGraphMemTrim(int device) {
  RUNTIME_TRY(Initialize());
  return Done(DRIVER(cuDeviceGraphMemTrim)(device));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamBeginCapture_v2)(stream, static_cast<CUstreamCaptureMode>(mode)));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamEndCapture)(stream, graph));
}

cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuStreamIsCapturing)(stream, reinterpret_cast<CUstreamCaptureStatus*>(status)));
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuThreadExchangeStreamCaptureMode)(reinterpret_cast<CUstreamCaptureMode*>(mode)));
}

}  // extern "C"

}  // namespace vramtrack::simcuda
