// SPDX-License-Identifier: Apache-2.0
// Instantiated graphs. A launch does what the nodes that move or take memory do.
#include <cuda.h>

#include <algorithm>
#include <utility>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/graph.h"

namespace vramtrack::simcuda {
namespace {

Graph* FromHandle(CUgraph handle) { return Handles<Graph>::Get(handle); }

CUresult Instantiate(CUgraphExec* handle, CUgraph graph_handle, unsigned long long flags) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  Graph* graph = FromHandle(graph_handle);
  if (handle == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphExec* exec = Handles<GraphExec>::Create();
  exec->device = context->device->ordinal;
  exec->flags = flags;
  FlattenGraph(*graph, &exec->steps);
  exec->user_objects = graph->user_objects;
  for (const auto& [object, count] : exec->user_objects) RetainUserObject(object, count);
  *handle = reinterpret_cast<CUgraphExec>(exec);
  return CUDA_SUCCESS;
}

CUresult Run(GraphExec* exec) {
  Count(Counter::kLaunch);
  if ((exec->flags & CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH) != 0) {
    for (const GraphExec::Step& step : exec->steps) {
      if (step.type == CU_GRAPH_NODE_TYPE_MEM_ALLOC && step.allocation->live) EndGraphAllocation(step.allocation.get());
    }
  }
  for (const GraphExec::Step& step : exec->steps) {
    if (step.action != nullptr && step.enabled) SIMCUDA_TRY(step.action());
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuGraphInstantiateWithFlags(CUgraphExec* exec, CUgraph graph, unsigned long long flags) {
  return Instantiate(exec, graph, flags);
}

// The two versions before flags were all there is to say.
#undef cuGraphInstantiate
CUresult cuGraphInstantiate_v2(CUgraphExec* exec, CUgraph graph, CUgraphNode* error_node, char* log, size_t log_bytes) {
  if (error_node != nullptr) *error_node = nullptr;
  if (log != nullptr && log_bytes != 0) *log = '\0';
  return Instantiate(exec, graph, 0);
}

CUresult cuGraphInstantiateWithParams(CUgraphExec* exec, CUgraph graph, CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const CUresult result = Instantiate(exec, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  return result;
}

CUresult cuGraphExecUpdate_v2(CUgraphExec handle, CUgraph graph_handle, CUgraphExecUpdateResultInfo* info) {
  GraphExec* exec = Handles<GraphExec>::Get(handle);
  Graph* graph = FromHandle(graph_handle);
  if (exec == nullptr || graph == nullptr || info == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *info = {};
  std::vector<GraphExec::Step> steps;
  FlattenGraph(*graph, &steps);
  const bool same_shape = steps.size() == exec->steps.size() &&
                          std::equal(steps.begin(), steps.end(), exec->steps.begin(),
                                     [](const auto& left, const auto& right) { return left.type == right.type; });
  if (!same_shape) {
    info->result = CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED;
    return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
  }
  info->result = CU_GRAPH_EXEC_UPDATE_SUCCESS;
  exec->steps = std::move(steps);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec handle) {
  SIMCUDA_TRY(CheckInitialized());
  GraphExec* exec = Handles<GraphExec>::Get(handle);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Handles<GraphExec>::Destroy(exec);
  return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(stream_handle, &stream));
  return Handles<GraphExec>::Get(handle) != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(stream_handle, &stream));
  GraphExec* exec = Handles<GraphExec>::Get(handle);
  if (exec == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (stream->IsCapturing()) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return Run(exec);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
