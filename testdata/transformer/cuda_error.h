// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_CUDA_ERROR_H_
#define TESTDATA_TRANSFORMER_CUDA_ERROR_H_

#include <cstddef>

#include "testdata/transformer/cuda_api.h"
#include "testdata/transformer/source_line.h"

namespace transformer {

// If `error` is not cudaSuccess, prints one line "FILE:LINE: CALL: reason" on stderr and exits with status 1.
void CheckCuda(cudaError_t error, const char* call, SourceLine where = SourceLine::Here());

// Does the same for an allocation, and prints its size as well.
void CheckAllocation(cudaError_t error, const char* call, size_t bytes, SourceLine where);

}  // namespace transformer

#endif  // TESTDATA_TRANSFORMER_CUDA_ERROR_H_
