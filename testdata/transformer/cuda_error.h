// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_CUDA_ERROR_H_
#define TESTDATA_TRANSFORMER_CUDA_ERROR_H_

#include <cstddef>

#include "testdata/transformer/cuda_api.h"
#include "testdata/transformer/source_line.h"

namespace transformer {

// Unless `error` is cudaSuccess: one line "FILE:LINE: CALL: reason" on stderr, and the process exits with status 1.
void CheckCuda(cudaError_t error, const char* call, SourceLine where = SourceLine::Here());

// The same for an allocation, whose size belongs in the line.
void CheckAllocation(cudaError_t error, const char* call, size_t bytes, SourceLine where);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_CUDA_ERROR_H_
