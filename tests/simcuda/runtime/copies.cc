// SPDX-License-Identifier: Apache-2.0
// Copies and fills of linear memory.
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

bool IsHostOnly(const void* address) {
  unsigned type;
  return DRIVER(cuPointerGetAttribute)(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, ToPointer(address)) != CUDA_SUCCESS;
}

// The direction that a program states must fit the addresses.
cudaError_t CheckDirection(const void* to, const void* from, cudaMemcpyKind kind) {
  switch (kind) {
    case cudaMemcpyHostToHost:
    case cudaMemcpyDefault:
      return cudaSuccess;
    case cudaMemcpyHostToDevice:
      return IsHostOnly(to) ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyDeviceToHost:
      return IsHostOnly(from) ? cudaErrorInvalidValue : cudaSuccess;
    case cudaMemcpyDeviceToDevice:
      return IsHostOnly(to) || IsHostOnly(from) ? cudaErrorInvalidValue : cudaSuccess;
    default:
      return cudaErrorInvalidMemcpyDirection;
  }
}

CUDA_MEMCPY2D Rows(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = ToPointer(from);
  copy.dstDevice = ToPointer(to);
  copy.srcPitch = from_pitch;
  copy.dstPitch = to_pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  RUNTIME_TRY(Bind());
  if (bytes == 0) return cudaSuccess;
  RUNTIME_TRY(CheckDirection(to, from, kind));
  return Done(DRIVER(cuMemcpy)(ToPointer(to), ToPointer(from), bytes));
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  if (bytes == 0) return cudaSuccess;
  RUNTIME_TRY(CheckDirection(to, from, kind));
  return Done(DRIVER(cuMemcpyAsync)(ToPointer(to), ToPointer(from), bytes, stream));
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemcpy)(ToPointer(to), ToPointer(from), bytes));
}

cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemcpyAsync)(ToPointer(to), ToPointer(from), bytes, stream));
}

cudaError_t cudaMemcpy2D(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                         cudaMemcpyKind kind) {
  RUNTIME_TRY(Bind());
  if (width == 0 || height == 0) return cudaSuccess;
  if (to_pitch < width || from_pitch < width) return Done(cudaErrorInvalidPitchValue);
  RUNTIME_TRY(CheckDirection(to, from, kind));
  const CUDA_MEMCPY2D copy = Rows(to, to_pitch, from, from_pitch, width, height);
  return Done(DRIVER(cuMemcpy2DUnaligned_v2)(&copy));
}

cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  if (width == 0 || height == 0) return cudaSuccess;
  if (to_pitch < width || from_pitch < width) return Done(cudaErrorInvalidPitchValue);
  RUNTIME_TRY(CheckDirection(to, from, kind));
  const CUDA_MEMCPY2D copy = Rows(to, to_pitch, from, from_pitch, width, height);
  return Done(DRIVER(cuMemcpy2DAsync_v2)(&copy, stream));
}

cudaError_t cudaMemset(void* to, int value, size_t bytes) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemsetD8_v2)(ToPointer(to), static_cast<unsigned char>(value), bytes));
}

cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemsetD8Async)(ToPointer(to), static_cast<unsigned char>(value), bytes, stream));
}

cudaError_t cudaMemset2D(void* to, size_t pitch, int value, size_t width, size_t height) {
  RUNTIME_TRY(Bind());
  return Done(DRIVER(cuMemsetD2D8_v2)(ToPointer(to), pitch, static_cast<unsigned char>(value), width, height));
}

cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height, cudaStream_t stream) {
  RUNTIME_TRY(Bind());
  return Done(
      DRIVER(cuMemsetD2D8Async)(ToPointer(to), pitch, static_cast<unsigned char>(value), width, height, stream));
}

// The rows of all slices follow one another.
cudaError_t cudaMemset3D(cudaPitchedPtr to, int value, cudaExtent extent) {
  for (size_t slice = 0; slice < extent.depth; ++slice) {
    const cudaError_t error = cudaMemset2D(static_cast<char*>(to.ptr) + slice * to.pitch * to.ysize, to.pitch, value,
                                           extent.width, extent.height);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
