// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/driver/graph.h"

#include <algorithm>
#include <map>

#include "tests/simcuda/device/handles.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {

Graph::~Graph() {
  for (GraphNode* node : nodes) Handles<GraphNode>::Destroy(node);
  for (Graph* graph : owned) Handles<Graph>::Destroy(graph);
  for (const auto& [object, count] : user_objects) ReleaseUserObject(object, count);
}

GraphNode* Graph::Add(CUgraphNodeType type, const std::vector<GraphNode*>& dependencies) {
  GraphNode* node = Handles<GraphNode>::Create();
  node->graph = this;
  node->type = type;
  node->dependencies = dependencies;
  nodes.push_back(node);
  return node;
}

void Graph::Remove(GraphNode* node) {
  nodes.erase(std::remove(nodes.begin(), nodes.end(), node), nodes.end());
  for (GraphNode* other : nodes) {
    auto& list = other->dependencies;
    list.erase(std::remove(list.begin(), list.end(), node), list.end());
  }
  Handles<GraphNode>::Destroy(node);
}

GraphExec::~GraphExec() {
  for (const auto& [object, count] : user_objects) ReleaseUserObject(object, count);
}

CUresult ReadDependencies(Graph* graph, const CUgraphNode* handles, size_t count, std::vector<GraphNode*>* nodes) {
  if (handles == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t index = 0; index < count; ++index) {
    GraphNode* node = Handles<GraphNode>::Get(handles[index]);
    if (node == nullptr || node->graph != graph) return CUDA_ERROR_INVALID_VALUE;
    nodes->push_back(node);
  }
  return CUDA_SUCCESS;
}

Graph* CloneGraph(const Graph& graph) {
  Graph* clone = Handles<Graph>::Create();
  std::map<GraphNode*, GraphNode*> copy_of;
  for (GraphNode* node : graph.nodes) {
    GraphNode* copy = Handles<GraphNode>::Create(*node);
    copy->graph = clone;
    if (node->child != nullptr) {
      copy->child = CloneGraph(*node->child);
      clone->owned.push_back(copy->child);
    }
    clone->nodes.push_back(copy);
    copy_of[node] = copy;
  }
  for (GraphNode* copy : clone->nodes) {
    for (GraphNode*& dependency : copy->dependencies) dependency = copy_of[dependency];
  }
  clone->user_objects = graph.user_objects;
  for (const auto& [object, count] : clone->user_objects) RetainUserObject(object, count);
  return clone;
}

void FlattenGraph(const Graph& graph, std::vector<GraphExec::Step>* steps) {
  // Nodes are listed as they were added; edges that were added later may ask for another order.
  std::map<GraphNode*, bool> placed;
  bool progress = true;
  while (placed.size() < graph.nodes.size() && progress) {
    progress = false;
    for (GraphNode* node : graph.nodes) {
      if (placed.count(node) != 0) continue;
      const bool ready = std::all_of(node->dependencies.begin(), node->dependencies.end(),
                                     [&](GraphNode* dependency) { return placed.count(dependency) != 0; });
      if (!ready) continue;
      placed[node] = true;
      progress = true;
      if (node->child != nullptr) {
        FlattenGraph(*node->child, steps);
      } else {
        steps->push_back({node, node->type, node->enabled, node->action, node->allocation});
      }
    }
  }
}

void RetainUserObject(UserObject* object, unsigned count) { object->references += static_cast<int>(count); }

void ReleaseUserObject(UserObject* object, unsigned count) {
  if (object->references.fetch_sub(static_cast<int>(count)) != static_cast<int>(count)) return;
  object->destroy(object->object);
  Handles<UserObject>::Destroy(object);
}

// Objects of the program live as long as the graphs that hold them.
extern "C" {

CUresult cuUserObjectCreate(CUuserObject* handle, void* pointer, CUhostFn destroy, unsigned count, unsigned) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr || destroy == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  UserObject* object = Handles<UserObject>::Create();
  object->object = pointer;
  object->destroy = destroy;
  object->references = static_cast<int>(count);
  *handle = reinterpret_cast<CUuserObject>(object);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  UserObject* object = Handles<UserObject>::Get(handle);
  if (object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  RetainUserObject(object, count);
  return CUDA_SUCCESS;
}

CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  UserObject* object = Handles<UserObject>::Get(handle);
  if (object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  ReleaseUserObject(object, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count, unsigned flags) {
  Graph* graph = Handles<Graph>::Get(graph_handle);
  UserObject* object = Handles<UserObject>::Get(handle);
  if (graph == nullptr || object == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0) RetainUserObject(object, count);
  graph->user_objects.emplace_back(object, count);
  return CUDA_SUCCESS;
}

CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count) {
  Graph* graph = Handles<Graph>::Get(graph_handle);
  UserObject* object = Handles<UserObject>::Get(handle);
  if (graph == nullptr || object == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (auto entry = graph->user_objects.begin(); entry != graph->user_objects.end(); ++entry) {
    if (entry->first != object || entry->second < count) continue;
    entry->second -= count;
    if (entry->second == 0) graph->user_objects.erase(entry);
    ReleaseUserObject(object, count);
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
