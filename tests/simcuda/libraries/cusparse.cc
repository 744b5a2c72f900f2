// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/cusparse.h"

#include <cstdint>

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

const char* cusparseGetErrorString(cusparseStatus_t) { return "status of the simulated cuSPARSE"; }

}  // extern "C"

namespace {

constexpr size_t kBufferBytes = vramtrack::simcuda::kCusparseBufferBytes;

int Answer(void* size) {
  if (size != nullptr) *static_cast<size_t*>(size) = kBufferBytes;
  return 0;
}

int AnswerInt(void* size) {
  if (size != nullptr) *static_cast<int*>(size) = kBufferBytes;
  return 0;
}

}  // namespace

extern "C" {

// Parameters that nobody reads are all declared as pointers: they are of that size, or smaller. BEFORE_n is what comes
// before the n-th.
#define P void*
#define BEFORE_7 P, P, P, P, P, P
#define BEFORE_10 BEFORE_7, P, P, P
#define BEFORE_12 BEFORE_10, P, P

int cusparseSpMV_bufferSize(BEFORE_10, size_t* bytes) { return Answer(bytes); }
int cusparseSpMM_bufferSize(BEFORE_10, P, size_t* bytes) { return Answer(bytes); }
int cusparseSDDMM_bufferSize(BEFORE_10, P, size_t* bytes) { return Answer(bytes); }
int cusparseSpSV_bufferSize(BEFORE_10, size_t* bytes) { return Answer(bytes); }
int cusparseSpSM_bufferSize(BEFORE_10, P, size_t* bytes) { return Answer(bytes); }
int cusparseXcoosort_bufferSizeExt(BEFORE_7, size_t* bytes) { return Answer(bytes); }
int cusparseXcsrsort_bufferSizeExt(BEFORE_7, size_t* bytes) { return Answer(bytes); }

// With a buffer they work, without they say how large it must be.
int cusparseSpGEMM_workEstimation(BEFORE_12, size_t* bytes, P buffer) { return buffer == nullptr ? Answer(bytes) : 0; }
int cusparseSpGEMM_compute(BEFORE_12, size_t* bytes, P buffer) { return buffer == nullptr ? Answer(bytes) : 0; }

int cusparseSpMatGetSize(const void*, int64_t* rows, int64_t* columns, int64_t* values) {
  *rows = *columns = *values = 0;
  return 0;
}

int cusparseXcsrgeam2Nnz(BEFORE_12, P, P, int* values, P) {
  *values = 0;
  return 0;
}

#define EACH_TYPE(define) define(S) define(D) define(C) define(Z)
#define GEAM(type) \
  int cusparse##type##csrgeam2_bufferSizeExt(BEFORE_12, P, P, P, P, P, P, P, P, size_t* bytes) { return Answer(bytes); }
#define BSRSV(type) \
  int cusparse##type##bsrsv2_bufferSize(BEFORE_12, int* bytes) { return AnswerInt(bytes); }
#define BSRSM(type) \
  int cusparse##type##bsrsm2_bufferSize(BEFORE_12, P, P, int* bytes) { return AnswerInt(bytes); }
EACH_TYPE(GEAM)
EACH_TYPE(BSRSV)
EACH_TYPE(BSRSM)

}  // extern "C"
