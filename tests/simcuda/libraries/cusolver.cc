// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cusolver.h"

#include "tests/simcuda/libraries/workspace.h"

struct cusolverDnContext {
  vramtrack::simcuda::Workspace workspace;
};

extern "C" {

cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  if (handle == nullptr) return 3;
  auto* created = new cusolverDnContext;
  if (!created->workspace.Take(vramtrack::simcuda::kCusolverWorkspaceBytes)) {
    delete created;
    return 2;
  }
  *handle = created;
  return 0;
}

cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  if (handle == nullptr) return 1;
  delete handle;
  return 0;
}

}  // extern "C"
