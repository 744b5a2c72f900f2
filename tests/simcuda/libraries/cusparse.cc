// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cusparse.h"

#include "tests/simcuda/libraries/workspace.h"

struct cusparseContext {
  vramtrack::simcuda::Workspace workspace;
};

extern "C" {

cusparseStatus_t cusparseCreate(cusparseHandle_t* handle) {
  if (handle == nullptr) return 3;
  auto* created = new cusparseContext;
  if (!created->workspace.Take(vramtrack::simcuda::kCusparseWorkspaceBytes)) {
    delete created;
    return 2;
  }
  *handle = created;
  return 0;
}

cusparseStatus_t cusparseDestroy(cusparseHandle_t handle) {
  if (handle == nullptr) return 1;
  delete handle;
  return 0;
}

}  // extern "C"
