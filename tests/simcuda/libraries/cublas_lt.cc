// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cublas_lt.h"

#include <algorithm>
#include <cstring>

#include "tests/simcuda/libraries/descriptor.h"
#include "tests/simcuda/libraries/workspace.h"

using vramtrack::simcuda::Create;
using vramtrack::simcuda::Destroy;

struct cublasLtContext {
  vramtrack::simcuda::Workspace workspace;
};

namespace {

constexpr int kMaxWorkspaceBytes = 1;  // CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES

struct Preference {
  uint64_t max_workspace_bytes = 0;
};

}  // namespace

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

size_t cublasLtGetVersion() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return static_cast<size_t>(version) * 10;
}

cublasStatus_t cublasLtMatmulDescCreate(void** descriptor, int, int) { return Create(descriptor); }
cublasStatus_t cublasLtMatmulDescDestroy(void* descriptor) { return Destroy(descriptor); }
cublasStatus_t cublasLtMatrixLayoutCreate(void** layout, int, uint64_t, uint64_t, int64_t) { return Create(layout); }
cublasStatus_t cublasLtMatrixLayoutDestroy(void* layout) { return Destroy(layout); }

cublasStatus_t cublasLtMatmulPreferenceCreate(void** preference) {
  *preference = new Preference;
  return 0;
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(void* preference) {
  delete static_cast<Preference*>(preference);
  return 0;
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value, size_t bytes) {
  if (attribute == kMaxWorkspaceBytes && bytes == sizeof(uint64_t)) {
    memcpy(&static_cast<Preference*>(preference)->max_workspace_bytes, value, bytes);
  }
  return 0;
}

// One algorithm for everything.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, void*, void*, void*, void*, void*, void* preference,
                                              int wanted, cublasLtMatmulHeuristicResult_t* results, int* found) {
  if (wanted < 1) return 7;
  const uint64_t most = preference != nullptr ? static_cast<Preference*>(preference)->max_workspace_bytes : 0;
  memset(results, 0, sizeof(*results));
  results->workspace_bytes = std::min<size_t>(most, vramtrack::simcuda::kCublasLtMatmulWorkspaceBytes);
  results->waves = 1;
  *found = 1;
  return 0;
}

cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t, void*, void*, void*, void*, void*, const void*,
                                       cublasLtMatmulHeuristicResult_t* result) {
  memset(result, 0, sizeof(*result));
  result->waves = 1;
  return 0;
}

cublasStatus_t cublasLtMatmulAlgoConfigGetAttribute(const void*, int, void* value, size_t bytes, size_t* written) {
  if (value != nullptr) memset(value, 0, bytes);
  if (written != nullptr) *written = bytes;
  return 0;
}

}  // extern "C"
