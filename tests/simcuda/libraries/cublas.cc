// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cublas.h"

#include "tests/simcuda/libraries/workspace.h"

struct cublasContext {
  vramtrack::simcuda::Workspace workspace;
  cublasLtHandle_t lt = nullptr;
  int math_mode = 0;
  int pointer_mode = 0;
};

extern "C" {

// The other library is called by its symbol, in the middle of this one's work.
cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  if (handle == nullptr) return 7;
  auto* created = new cublasContext;
  cublasStatus_t status = cublasLtCreate(&created->lt);
  if (status == 0 && !created->workspace.Take(vramtrack::simcuda::kCublasWorkspaceBytes)) {
    cublasLtDestroy(created->lt);
    status = 3;
  }
  if (status != 0) {
    delete created;
    return status;
  }
  *handle = created;
  return 0;
}

cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  if (handle == nullptr) return 1;
  cublasLtDestroy(handle->lt);
  delete handle;
  return 0;
}

cublasStatus_t cublasSetMathMode(cublasHandle_t handle, int mode) {
  handle->math_mode = mode;
  return 0;
}

cublasStatus_t cublasGetMathMode(cublasHandle_t handle, int* mode) {
  *mode = handle->math_mode;
  return 0;
}

cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, int mode) {
  handle->pointer_mode = mode;
  return 0;
}

cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, int* mode) {
  *mode = handle->pointer_mode;
  return 0;
}

const char* cublasGetStatusString(cublasStatus_t) { return "status of the simulated cuBLAS"; }

}  // extern "C"
