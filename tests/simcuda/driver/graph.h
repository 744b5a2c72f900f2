// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DRIVER_GRAPH_H_
#define TESTS_SIMCUDA_DRIVER_GRAPH_H_

#include <cuda.h>

#include <atomic>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "tests/simcuda/driver/graph_memory.h"

namespace vramtrack::simcuda {

struct Graph;

struct GraphNode {
  Graph* graph = nullptr;
  CUgraphNodeType type = CU_GRAPH_NODE_TYPE_EMPTY;
  std::vector<GraphNode*> dependencies;
  bool enabled = true;
  // The work of a launch; empty for kernels.
  std::function<CUresult()> action;
  // The parameters of the node, for calls that query them. Only those of `type` are valid.
  CUDA_KERNEL_NODE_PARAMS kernel{};
  CUDA_MEMCPY3D copy{};
  CUDA_MEMSET_NODE_PARAMS fill{};
  CUDA_HOST_NODE_PARAMS host{};
  CUevent event = nullptr;
  Graph* child = nullptr;
  std::shared_ptr<GraphAllocation> allocation;  // only for memory nodes
};

struct UserObject {
  void* object = nullptr;
  CUhostFn destroy = nullptr;
  std::atomic<int> references{0};
};

// A graph. Owns its nodes. Not thread-safe, as with the real driver, except for the references of user objects.
struct Graph {
  ~Graph();

  GraphNode* Add(CUgraphNodeType type, const std::vector<GraphNode*>& dependencies);
  void Remove(GraphNode* node);

  std::vector<GraphNode*> nodes;  // each after its dependencies, unless edges were added later
  std::vector<std::pair<UserObject*, unsigned>> user_objects;
  // Child graphs and the bodies of conditional nodes, which are deleted with this graph.
  std::vector<Graph*> owned;
  std::vector<std::unique_ptr<Graph*[]>> body_lists;
};

// An executable graph: a copy of the steps of a graph at its instantiation.
struct GraphExec {
  struct Step {
    GraphNode* node;
    CUgraphNodeType type;
    bool enabled;
    std::function<CUresult()> action;
    std::shared_ptr<GraphAllocation> allocation;
  };
  ~GraphExec();

  int device = 0;
  unsigned long long flags = 0;
  std::vector<Step> steps;
  std::vector<std::pair<UserObject*, unsigned>> user_objects;
};

// Gets the nodes of the handles. Returns CUDA_ERROR_INVALID_VALUE unless all belong to `graph`.
CUresult ReadDependencies(Graph* graph, const CUgraphNode* handles, size_t count, std::vector<GraphNode*>* nodes);

// Returns a deep copy, owned by the caller.
Graph* CloneGraph(const Graph& graph);

// Appends the steps of `graph`. The steps of a child graph replace its node.
void FlattenGraph(const Graph& graph, std::vector<GraphExec::Step>* steps);

void RetainUserObject(UserObject* object, unsigned count);
void ReleaseUserObject(UserObject* object, unsigned count);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_GRAPH_H_
