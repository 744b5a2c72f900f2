// SPDX-License-Identifier: Apache-2.0
#ifndef TESTDATA_TRANSFORMER_CUDA_API_H_
#define TESTDATA_TRANSFORMER_CUDA_API_H_

// The CUDA runtime, or its stand-in where the workloads are built for the host.
#ifdef TRANSFORMER_HOST_BUILD
#include "testdata/transformer/host_cuda.h"
#else
#include <cuda_runtime.h>
#endif

// Frames that a tracer is to find stay frames of their own.
#define TRANSFORMER_NOINLINE __attribute__((noinline))

#endif  // TESTDATA_TRANSFORMER_CUDA_API_H_
