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

namespace {

// Positions are counted from 1, as in the documentation of the functions; a value is where no null pointer was passed.
template <int kPosition, typename Size, size_t kCount>
int Answer(void* const (&arguments)[kCount]) {
  static_assert(kPosition <= static_cast<int>(kCount), "more parameters than there are registers and stack slots for");
  if (void* size = arguments[kPosition - 1]) *static_cast<Size*>(size) = vramtrack::simcuda::kCusolverBufferElements;
  return 0;
}

}  // namespace

extern "C" {

// A caller passes more or fewer parameters than these; all are of the size of a pointer, or smaller, and none is a
// floating-point number.
#define PARAMETERS                                                                                                \
  void *a1, void *a2, void *a3, void *a4, void *a5, void *a6, void *a7, void *a8, void *a9, void *a10, void *a11, \
      void *a12, void *a13, void *a14, void *a15, void *a16, void *a17, void *a18, void *a19, void *a20
#define ARGUMENTS \
  { a1, a2, a3, a4, a5, a6, a7, a8, a9, a10, a11, a12, a13, a14, a15, a16, a17, a18, a19, a20 }

#define ELEMENTS_AT(position, function)      \
  int function(PARAMETERS) {                 \
    void* const arguments[] = ARGUMENTS;     \
    return Answer<position, int>(arguments); \
  }
#define BYTES_AT(device, host, function)    \
  int function(PARAMETERS) {                \
    void* const arguments[] = ARGUMENTS;    \
    Answer<device, size_t>(arguments);      \
    return Answer<host, size_t>(arguments); \
  }
#define REAL(position, operation)                            \
  ELEMENTS_AT(position, cusolverDnS##operation##_bufferSize) \
  ELEMENTS_AT(position, cusolverDnD##operation##_bufferSize)
#define COMPLEX(position, operation)                         \
  ELEMENTS_AT(position, cusolverDnC##operation##_bufferSize) \
  ELEMENTS_AT(position, cusolverDnZ##operation##_bufferSize)
#define EVERY_TYPE(position, operation) REAL(position, operation) COMPLEX(position, operation)

EVERY_TYPE(6, potrf)
EVERY_TYPE(6, getrf)
EVERY_TYPE(6, geqrf)
EVERY_TYPE(5, sytrf)
EVERY_TYPE(4, gesvd)
EVERY_TYPE(13, gesvdj)
EVERY_TYPE(12, gesvdjBatched)
EVERY_TYPE(17, gesvdaStridedBatched)
REAL(8, orgqr)
COMPLEX(8, ungqr)
REAL(12, ormqr)
COMPLEX(12, unmqr)
REAL(8, syevd)
COMPLEX(8, heevd)
REAL(8, syevj)
COMPLEX(8, heevj)
REAL(8, syevjBatched)
COMPLEX(8, heevjBatched)
BYTES_AT(9, 10, cusolverDnXpotrf_bufferSize)
BYTES_AT(9, 10, cusolverDnXgetrf_bufferSize)
BYTES_AT(11, 12, cusolverDnXgeqrf_bufferSize)
BYTES_AT(12, 13, cusolverDnXsyevd_bufferSize)
BYTES_AT(12, 13, cusolverDnXsyevBatched_bufferSize)
BYTES_AT(12, 13, cusolverDnXsytrs_bufferSize)
BYTES_AT(18, 19, cusolverDnXgeev_bufferSize)

}  // extern "C"
