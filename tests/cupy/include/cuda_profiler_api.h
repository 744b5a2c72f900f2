/* SPDX-License-Identifier: Apache-2.0
 *
 * What CuPy includes of a header that NVIDIA's wheels for the runtime and the compiler do not have. */
#ifndef TESTS_CUPY_INCLUDE_CUDA_PROFILER_API_H_
#define TESTS_CUPY_INCLUDE_CUDA_PROFILER_API_H_

#include <cuda_runtime_api.h>

extern "C" cudaError_t cudaProfilerStart(void);
extern "C" cudaError_t cudaProfilerStop(void);

#endif /* TESTS_CUPY_INCLUDE_CUDA_PROFILER_API_H_ */
