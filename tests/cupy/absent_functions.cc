// SPDX-License-Identifier: Apache-2.0
//
// Functions of the CUDA runtime that CuPy's module needs to be loaded and the simulated runtime does not have.
#define VRAMTRACK_ABSENT(name) \
  extern "C" int name() { return 801; /* cudaErrorNotSupported */ }

VRAMTRACK_ABSENT(cudaDeviceGetByPCIBusId)
VRAMTRACK_ABSENT(cudaGetChannelDesc)
VRAMTRACK_ABSENT(cudaGetTextureObjectResourceDesc)
VRAMTRACK_ABSENT(cudaGetTextureObjectTextureDesc)
VRAMTRACK_ABSENT(cudaGraphDebugDotPrint)
VRAMTRACK_ABSENT(cudaMemcpy2DFromArrayAsync)
VRAMTRACK_ABSENT(cudaMemcpy2DToArrayAsync)
