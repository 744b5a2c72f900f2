// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_RUNTIME_COPY_PARAMETERS_H_
#define TESTS_SIMCUDA_RUNTIME_COPY_PARAMETERS_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace vramtrack::simcuda {

// The driver's description of a copy that the runtime describes in its own way: where an array takes part, widths and
// horizontal positions are in elements instead of bytes. False if an array is none.
bool ToDriverCopy(const cudaMemcpy3DParms& parameters, CUDA_MEMCPY3D* copy);

// Bytes of an element; 0 if `array` is none.
size_t ElementBytes(cudaArray_const_t array);

CUarray_format ToFormat(const cudaChannelFormatDesc& description, unsigned* channels);
cudaChannelFormatDesc ToDescription(CUarray_format format, unsigned channels);

// The runtime's array handles are the driver's.
inline CUarray ToArray(cudaArray_const_t array) { return reinterpret_cast<CUarray>(const_cast<cudaArray*>(array)); }

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_RUNTIME_COPY_PARAMETERS_H_
