// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/runtime/copies.h"

#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

int FormatBits(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 8;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 16;
    default:
      return 32;
  }
}

}  // namespace

CUarray_format ToFormat(const cudaChannelFormatDesc& description, unsigned* channels) {
  *channels = (description.x != 0) + (description.y != 0) + (description.z != 0) + (description.w != 0);
  switch (description.f) {
    case cudaChannelFormatKindSigned:
      return description.x == 8    ? CU_AD_FORMAT_SIGNED_INT8
             : description.x == 16 ? CU_AD_FORMAT_SIGNED_INT16
                                   : CU_AD_FORMAT_SIGNED_INT32;
    case cudaChannelFormatKindFloat:
      return description.x == 16 ? CU_AD_FORMAT_HALF : CU_AD_FORMAT_FLOAT;
    default:
      return description.x == 8    ? CU_AD_FORMAT_UNSIGNED_INT8
             : description.x == 16 ? CU_AD_FORMAT_UNSIGNED_INT16
                                   : CU_AD_FORMAT_UNSIGNED_INT32;
  }
}

cudaChannelFormatDesc ToDescription(CUarray_format format, unsigned channels) {
  cudaChannelFormatDesc description = {};
  const int bits = FormatBits(format);
  description.x = bits;
  description.y = channels > 1 ? bits : 0;
  description.z = channels > 2 ? bits : 0;
  description.w = channels > 3 ? bits : 0;
  switch (format) {
    case CU_AD_FORMAT_HALF:
    case CU_AD_FORMAT_FLOAT:
      description.f = cudaChannelFormatKindFloat;
      break;
    case CU_AD_FORMAT_SIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT32:
      description.f = cudaChannelFormatKindSigned;
      break;
    default:
      description.f = cudaChannelFormatKindUnsigned;
  }
  return description;
}

size_t ElementBytes(cudaArray_const_t array) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  if (DRIVER(cuArray3DGetDescriptor_v2)(&descriptor, ToArray(array)) != CUDA_SUCCESS) return 0;
  return static_cast<size_t>(FormatBits(descriptor.Format)) / 8 * descriptor.NumChannels;
}

bool ToDriverCopy(const cudaMemcpy3DParms& p, CUDA_MEMCPY3D* copy) {
  *copy = {};
  size_t element_bytes = 1;
  if (p.srcArray != nullptr) element_bytes = ElementBytes(p.srcArray);
  if (p.dstArray != nullptr) element_bytes = ElementBytes(p.dstArray);
  if (element_bytes == 0) return false;
  copy->WidthInBytes = p.extent.width * element_bytes;
  copy->Height = p.extent.height;
  copy->Depth = p.extent.depth;
  copy->srcXInBytes = p.srcPos.x * (p.srcArray != nullptr ? element_bytes : 1);
  copy->srcY = p.srcPos.y;
  copy->srcZ = p.srcPos.z;
  copy->dstXInBytes = p.dstPos.x * (p.dstArray != nullptr ? element_bytes : 1);
  copy->dstY = p.dstPos.y;
  copy->dstZ = p.dstPos.z;
  if (p.srcArray != nullptr) {
    copy->srcMemoryType = CU_MEMORYTYPE_ARRAY;
    copy->srcArray = ToArray(p.srcArray);
  } else {
    copy->srcMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy->srcDevice = ToPointer(p.srcPtr.ptr);
    copy->srcPitch = p.srcPtr.pitch;
    copy->srcHeight = p.srcPtr.ysize;
  }
  if (p.dstArray != nullptr) {
    copy->dstMemoryType = CU_MEMORYTYPE_ARRAY;
    copy->dstArray = ToArray(p.dstArray);
  } else {
    copy->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
    copy->dstDevice = ToPointer(p.dstPtr.ptr);
    copy->dstPitch = p.dstPtr.pitch;
    copy->dstHeight = p.dstPtr.ysize;
  }
  return true;
}

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
