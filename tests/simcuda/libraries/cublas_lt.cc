// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cublas_lt.h"

#include "tests/simcuda/libraries/workspace.h"

struct cublasLtContext {
  vramtrack::simcuda::Workspace workspace;
};

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  if (handle == nullptr) return 7;
  auto* created = new cublasLtContext;
  if (!created->workspace.Take(vramtrack::simcuda::kCublasLtWorkspaceBytes)) {
    delete created;
    return 3;
  }
  *handle = created;
  return 0;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  if (handle == nullptr) return 1;
  delete handle;
  return 0;
}

}  // extern "C"
