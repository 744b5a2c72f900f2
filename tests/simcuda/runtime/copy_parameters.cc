// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/runtime/copy_parameters.h"

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

}  // namespace vramtrack::simcuda
