// SPDX-License-Identifier: Apache-2.0
// Objects of the program that live as long as the graphs that hold them.
#include <cuda.h>

#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/graph.h"

namespace vramtrack::simcuda {

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
