// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_CUFFT_H_
#define TESTS_SIMCUDA_LIBRARIES_CUFFT_H_

// The simulated part of cuFFT: plans. A plan is a small number, from 0.
#include <cstddef>

extern "C" {

typedef int cufftHandle;
typedef int cufftType;
// Values: 0 success, 1 unknown plan, 2 no memory, 4 invalid value.
typedef int cufftResult;

cufftResult cufftCreate(cufftHandle* plan);
cufftResult cufftPlan1d(cufftHandle* plan, int nx, cufftType type, int batch);
cufftResult cufftPlan2d(cufftHandle* plan, int nx, int ny, cufftType type);
cufftResult cufftPlan3d(cufftHandle* plan, int nx, int ny, int nz, cufftType type);
cufftResult cufftPlanMany(cufftHandle* plan, int rank, int* n, int* in_embed, int in_stride, int in_dist,
                          int* out_embed, int out_stride, int out_dist, cufftType type, int batch);
cufftResult cufftXtMakePlanMany(cufftHandle plan, int rank, long long* n, long long* in_embed, long long in_stride,
                                long long in_dist, int in_type, long long* out_embed, long long out_stride,
                                long long out_dist, int out_type, long long batch, size_t* work_bytes,
                                int execution_type);
cufftResult cufftDestroy(cufftHandle plan);
}

namespace vramtrack::simcuda {

// Single and double precision, complex to complex.
constexpr cufftType kCufftC2C = 0x29, kCufftZ2Z = 0x69;

// Returns the bytes of an element. A plan allocates one element for each of its points.
constexpr size_t CufftElementBytes(cufftType type) { return (type & 0x40) != 0 ? 16 : 8; }

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_CUFFT_H_
