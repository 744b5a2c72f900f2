// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_CUDA_API_H_
#define TESTDATA_TRANSFORMER_CUDA_API_H_

// Includes the CUDA runtime, or its substitute if the workloads are built for the host.
#ifdef TRANSFORMER_HOST_BUILD
#include "testdata/transformer/host_cuda.h"
#else
#include <cuda_runtime.h>
#endif

// Prevents inlining, so that the function has its own frame in the call stacks of a tracer.
#define TRANSFORMER_NOINLINE __attribute__((noinline))

#endif  // TESTDATA_TRANSFORMER_CUDA_API_H_
