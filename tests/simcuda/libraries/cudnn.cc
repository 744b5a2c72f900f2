// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cudnn.h"

#include "tests/simcuda/libraries/workspace.h"

struct cudnnContext {
  vramtrack::simcuda::Workspace workspace;
};

extern "C" {

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (handle == nullptr) return 2000;
  auto* created = new cudnnContext;
  if (!created->workspace.Take(vramtrack::simcuda::kCudnnWorkspaceBytes)) {
    delete created;
    return 4002;
  }
  *handle = created;
  return 0;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  if (handle == nullptr) return 2000;
  delete handle;
  return 0;
}

}  // extern "C"
