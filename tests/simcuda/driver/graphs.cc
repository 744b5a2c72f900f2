// SPDX-License-Identifier: Apache-2.0
// Graphs and their nodes, made by hand.
#include <cuda.h>

#include <algorithm>

#include "tests/simcuda/driver/copies.h"
#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/graph.h"

namespace vramtrack::simcuda {
namespace {

Graph* FromHandle(CUgraph handle) { return Handles<Graph>::Get(handle); }
GraphNode* FromHandle(CUgraphNode handle) { return Handles<GraphNode>::Get(handle); }
CUgraph ToHandle(Graph* graph) { return reinterpret_cast<CUgraph>(graph); }
CUgraphNode ToHandle(GraphNode* node) { return reinterpret_cast<CUgraphNode>(node); }

CUresult AddNode(CUgraphNode* handle, CUgraph graph_handle, const CUgraphNode* dependencies, size_t count,
                 CUgraphNodeType type, GraphNode** node) {
  SIMCUDA_TRY(CheckInitialized());
  Graph* graph = FromHandle(graph_handle);
  if (graph == nullptr || handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> nodes;
  SIMCUDA_TRY(ReadDependencies(graph, dependencies, count, &nodes));
  *node = graph->Add(type, nodes);
  *handle = ToHandle(*node);
  return CUDA_SUCCESS;
}

CUresult SetCopy(GraphNode* node, const CUDA_MEMCPY3D& parameters) {
  BoxCopy copy;
  if (!ReadBox(parameters, &copy)) return CUDA_ERROR_INVALID_VALUE;
  node->copy = parameters;
  node->action = [copy] { return copy.Run() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE; };
  return CUDA_SUCCESS;
}

CUresult SetFill(GraphNode* node, const CUDA_MEMSET_NODE_PARAMS& p) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4) return CUDA_ERROR_INVALID_VALUE;
  node->fill = p;
  node->action = [p] {
    const bool done = FillRows(ToAddress(p.dst), p.pitch, p.value, p.elementSize, p.width, p.height);
    return done ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  };
  return CUDA_SUCCESS;
}

CUresult SetHost(GraphNode* node, const CUDA_HOST_NODE_PARAMS& p) {
  if (p.fn == nullptr) return CUDA_ERROR_INVALID_VALUE;
  node->host = p;
  node->action = [p] {
    p.fn(p.userData);
    return CUDA_SUCCESS;
  };
  return CUDA_SUCCESS;
}

CUresult SetAllocation(GraphNode* node, int device, size_t bytes, CUdeviceptr* pointer) {
  SIMCUDA_TRY(CheckDevice(device));
  if (bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  node->allocation = MakeGraphAllocation(device, bytes);
  if (node->allocation == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  GraphAllocation* allocation = node->allocation.get();
  node->action = [allocation] { return StartGraphAllocation(allocation); };
  *pointer = ToPointer(allocation->address);
  return CUDA_SUCCESS;
}

CUresult SetFree(GraphNode* node, CUdeviceptr pointer) {
  node->allocation = FindGraphAllocation(ToAddress(pointer));
  if (node->allocation == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphAllocation* allocation = node->allocation.get();
  node->action = [allocation] { return EndGraphAllocation(allocation); };
  return CUDA_SUCCESS;
}

// Takes a node that could not be completed off again.
CUresult Finish(CUresult result, GraphNode* node) {
  if (result != CUDA_SUCCESS) node->graph->Remove(node);
  return result;
}

// Fills an array of `*count` handles, or only says how many there are.
CUresult List(const std::vector<GraphNode*>& nodes, CUgraphNode* handles, size_t* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (handles != nullptr) {
    for (size_t index = 0; index < *count; ++index) {
      handles[index] = index < nodes.size() ? ToHandle(nodes[index]) : nullptr;
    }
    *count = std::min(*count, nodes.size());
  } else {
    *count = nodes.size();
  }
  return CUDA_SUCCESS;
}

CUresult ChangeEdges(CUgraph graph_handle, const CUgraphNode* from, const CUgraphNode* to, size_t count, bool add) {
  Graph* graph = FromHandle(graph_handle);
  if (graph == nullptr || (count != 0 && (from == nullptr || to == nullptr))) return CUDA_ERROR_INVALID_VALUE;
  for (size_t index = 0; index < count; ++index) {
    GraphNode* source = FromHandle(from[index]);
    GraphNode* target = FromHandle(to[index]);
    if (source == nullptr || target == nullptr || source->graph != graph || target->graph != graph) {
      return CUDA_ERROR_INVALID_VALUE;
    }
    auto& list = target->dependencies;
    auto found = std::find(list.begin(), list.end(), source);
    if ((found == list.end()) != add) return CUDA_ERROR_INVALID_VALUE;
    if (add) {
      list.push_back(source);
    } else {
      list.erase(found);
    }
  }
  return CUDA_SUCCESS;
}

CUresult Dependents(CUgraphNode handle, CUgraphNode* nodes, size_t* count) {
  GraphNode* node = FromHandle(handle);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> dependents;
  for (GraphNode* other : node->graph->nodes) {
    if (std::find(other->dependencies.begin(), other->dependencies.end(), node) != other->dependencies.end()) {
      dependents.push_back(other);
    }
  }
  return List(dependents, nodes, count);
}

CUresult Edges(CUgraph handle, CUgraphNode* from, CUgraphNode* to, size_t* count) {
  Graph* graph = FromHandle(handle);
  if (graph == nullptr || count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  size_t edges = 0;
  for (GraphNode* node : graph->nodes) {
    for (GraphNode* dependency : node->dependencies) {
      if (from != nullptr && to != nullptr && edges < *count) {
        from[edges] = ToHandle(dependency);
        to[edges] = ToHandle(node);
      }
      ++edges;
    }
  }
  *count = from == nullptr ? edges : std::min(*count, edges);
  return CUDA_SUCCESS;
}

CUresult AddAnyNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                    CUgraphNodeParams* p) {
  if (p == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, p->type, &node));
  switch (p->type) {
    case CU_GRAPH_NODE_TYPE_KERNEL:
      node->kernel.func = p->kernel.func;
      node->kernel.gridDimX = p->kernel.gridDimX;
      node->kernel.gridDimY = p->kernel.gridDimY;
      node->kernel.gridDimZ = p->kernel.gridDimZ;
      node->kernel.blockDimX = p->kernel.blockDimX;
      node->kernel.blockDimY = p->kernel.blockDimY;
      node->kernel.blockDimZ = p->kernel.blockDimZ;
      node->kernel.sharedMemBytes = p->kernel.sharedMemBytes;
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEMCPY:
      return Finish(SetCopy(node, p->memcpy.copyParams), node);
    case CU_GRAPH_NODE_TYPE_MEMSET: {
      CUDA_MEMSET_NODE_PARAMS fill = {};
      fill.dst = p->memset.dst;
      fill.pitch = p->memset.pitch;
      fill.value = p->memset.value;
      fill.elementSize = p->memset.elementSize;
      fill.width = p->memset.width;
      fill.height = p->memset.height;
      return Finish(SetFill(node, fill), node);
    }
    case CU_GRAPH_NODE_TYPE_HOST: {
      CUDA_HOST_NODE_PARAMS host = {};
      host.fn = p->host.fn;
      host.userData = p->host.userData;
      return Finish(SetHost(node, host), node);
    }
    case CU_GRAPH_NODE_TYPE_GRAPH:
      if (FromHandle(p->graph.graph) == nullptr) return Finish(CUDA_ERROR_INVALID_VALUE, node);
      node->child = CloneGraph(*FromHandle(p->graph.graph));
      node->graph->owned.push_back(node->child);
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_MEM_ALLOC:
      return Finish(SetAllocation(node, p->alloc.poolProps.location.id, p->alloc.bytesize, &p->alloc.dptr), node);
    case CU_GRAPH_NODE_TYPE_MEM_FREE:
      return Finish(SetFree(node, p->free.dptr), node);
    case CU_GRAPH_NODE_TYPE_EVENT_RECORD:
      node->event = p->eventRecord.event;
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_WAIT_EVENT:
      node->event = p->eventWait.event;
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_EMPTY:
      return CUDA_SUCCESS;
    case CU_GRAPH_NODE_TYPE_CONDITIONAL: {
      // The bodies exist, so that they can be filled, but no condition is ever true.
      auto bodies = std::make_unique<Graph*[]>(p->conditional.size);
      for (unsigned index = 0; index < p->conditional.size; ++index) {
        bodies[index] = Handles<Graph>::Create();
        node->graph->owned.push_back(bodies[index]);
      }
      p->conditional.phGraph_out = reinterpret_cast<CUgraph*>(bodies.get());
      node->graph->body_lists.push_back(std::move(bodies));
      return CUDA_SUCCESS;
    }
    default:
      return Finish(CUDA_ERROR_NOT_SUPPORTED, node);
  }
}

}  // namespace

extern "C" {

CUresult cuGraphCreate(CUgraph* graph, unsigned flags) {
  SIMCUDA_TRY(CheckInitialized());
  if (graph == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  *graph = ToHandle(Handles<Graph>::Create());
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph handle) {
  SIMCUDA_TRY(CheckInitialized());
  Graph* graph = FromHandle(handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Handles<Graph>::Destroy(graph);
  return CUDA_SUCCESS;
}

CUresult cuGraphClone(CUgraph* clone, CUgraph handle) {
  SIMCUDA_TRY(CheckInitialized());
  Graph* graph = FromHandle(handle);
  if (clone == nullptr || graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *clone = ToHandle(CloneGraph(*graph));
  return CUDA_SUCCESS;
}

CUresult cuGraphAddEmptyNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count) {
  GraphNode* node;
  return AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_EMPTY, &node);
}

CUresult cuGraphAddKernelNode_v2(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 const CUDA_KERNEL_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_KERNEL, &node));
  node->kernel = *parameters;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemcpyNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMCPY3D* parameters, CUcontext) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMCPY, &node));
  return Finish(SetCopy(node, *parameters), node);
}

CUresult cuGraphAddMemsetNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                              const CUDA_MEMSET_NODE_PARAMS* parameters, CUcontext) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEMSET, &node));
  return Finish(SetFill(node, *parameters), node);
}

CUresult cuGraphAddHostNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                            const CUDA_HOST_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_HOST, &node));
  return Finish(SetHost(node, *parameters), node);
}

CUresult cuGraphAddChildGraphNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                  CUgraph child) {
  if (FromHandle(child) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_GRAPH, &node));
  node->child = CloneGraph(*FromHandle(child));
  node->graph->owned.push_back(node->child);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddEventRecordNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                   CUevent event) {
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_EVENT_RECORD, &node));
  node->event = event;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddEventWaitNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                 CUevent event) {
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_WAIT_EVENT, &node));
  node->event = event;
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemAllocNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                                CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  if (parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEM_ALLOC, &node));
  return Finish(SetAllocation(node, parameters->poolProps.location.id, parameters->bytesize, &parameters->dptr), node);
}

CUresult cuGraphMemAllocNodeGetParams(CUgraphNode handle, CUDA_MEM_ALLOC_NODE_PARAMS* parameters) {
  GraphNode* node = FromHandle(handle);
  if (node == nullptr || parameters == nullptr || node->type != CU_GRAPH_NODE_TYPE_MEM_ALLOC) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *parameters = {};
  parameters->poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  parameters->poolProps.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  parameters->poolProps.location.id = node->allocation->device;
  parameters->bytesize = node->allocation->bytes;
  parameters->dptr = ToPointer(node->allocation->address);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddMemFreeNode(CUgraphNode* handle, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                               CUdeviceptr pointer) {
  GraphNode* node;
  SIMCUDA_TRY(AddNode(handle, graph, dependencies, count, CU_GRAPH_NODE_TYPE_MEM_FREE, &node));
  return Finish(SetFree(node, pointer), node);
}

CUresult cuGraphMemFreeNodeGetParams(CUgraphNode handle, CUdeviceptr* pointer) {
  GraphNode* node = FromHandle(handle);
  if (node == nullptr || pointer == nullptr || node->type != CU_GRAPH_NODE_TYPE_MEM_FREE) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  *pointer = ToPointer(node->allocation->address);
  return CUDA_SUCCESS;
}

CUresult cuGraphAddNode_v2(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, const CUgraphEdgeData*,
                           size_t count, CUgraphNodeParams* parameters) {
  return AddAnyNode(node, graph, dependencies, count, parameters);
}

#undef cuGraphAddNode
CUresult cuGraphAddNode(CUgraphNode* node, CUgraph graph, const CUgraphNode* dependencies, size_t count,
                        CUgraphNodeParams* parameters) {
  return AddAnyNode(node, graph, dependencies, count, parameters);
}

CUresult cuGraphConditionalHandleCreate(CUgraphConditionalHandle* handle, CUgraph graph, CUcontext, unsigned,
                                        unsigned) {
  if (handle == nullptr || FromHandle(graph) == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *handle = NextId();
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroyNode(CUgraphNode handle) {
  GraphNode* node = FromHandle(handle);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  node->graph->Remove(node);
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  GraphNode* node = FromHandle(handle);
  if (node == nullptr || type == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *type = node->type;
  return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  Graph* graph = FromHandle(handle);
  return graph == nullptr ? CUDA_ERROR_INVALID_VALUE : List(graph->nodes, nodes, count);
}

CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, size_t* count) {
  Graph* graph = FromHandle(handle);
  if (graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  std::vector<GraphNode*> roots;
  for (GraphNode* node : graph->nodes) {
    if (node->dependencies.empty()) roots.push_back(node);
  }
  return List(roots, nodes, count);
}

CUresult cuGraphNodeGetDependencies_v2(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* edges, size_t* count) {
  GraphNode* node = FromHandle(handle);
  if (node == nullptr) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TRY(List(node->dependencies, nodes, count));
  if (edges != nullptr) std::fill(edges, edges + *count, CUgraphEdgeData{});
  return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetDependentNodes_v2(CUgraphNode node, CUgraphNode* nodes, CUgraphEdgeData* edges, size_t* count) {
  SIMCUDA_TRY(Dependents(node, nodes, count));
  if (edges != nullptr) std::fill(edges, edges + *count, CUgraphEdgeData{});
  return CUDA_SUCCESS;
}

CUresult cuGraphGetEdges_v2(CUgraph graph, CUgraphNode* from, CUgraphNode* to, CUgraphEdgeData* edges, size_t* count) {
  SIMCUDA_TRY(Edges(graph, from, to, count));
  if (edges != nullptr) std::fill(edges, edges + *count, CUgraphEdgeData{});
  return CUDA_SUCCESS;
}

CUresult cuGraphAddDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                   const CUgraphEdgeData*, size_t count) {
  return ChangeEdges(graph, from, to, count, true);
}

CUresult cuGraphRemoveDependencies_v2(CUgraph graph, const CUgraphNode* from, const CUgraphNode* to,
                                      const CUgraphEdgeData*, size_t count) {
  return ChangeEdges(graph, from, to, count, false);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
