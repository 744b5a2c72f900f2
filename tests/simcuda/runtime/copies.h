// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_RUNTIME_COPIES_H_
#define TESTS_SIMCUDA_RUNTIME_COPIES_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace vramtrack::simcuda {

// Converts the runtime's description of a copy to the driver's. If an array takes part, the runtime's widths and
// horizontal positions are in elements instead of bytes. Returns false if an array is invalid.
bool ToDriverCopy(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);

// Returns the bytes of an element, or 0 if `array` is invalid.
size_t ElementBytes(cudaArray_const_t array);

CUarray_format ToFormat(const cudaChannelFormatDesc& description, unsigned* channels);
cudaChannelFormatDesc ToDescription(CUarray_format format, unsigned channels);

// Converts an array handle. The handles of runtime and driver are the same.
inline CUarray ToArray(cudaArray_const_t array) { return reinterpret_cast<CUarray>(const_cast<cudaArray*>(array)); }

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_RUNTIME_COPIES_H_
