// SPDX-License-Identifier: Apache-2.0
// Arrays, mipmapped arrays, and the texture and surface objects on them.
#include "tests/simcuda/device/array.h"

#include <cuda.h>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/driver/activity.h"
#include "tests/simcuda/driver/copies.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

size_t FormatBytes(CUarray_format format) {
  switch (format) {
    case CU_AD_FORMAT_UNSIGNED_INT8:
    case CU_AD_FORMAT_SIGNED_INT8:
      return 1;
    case CU_AD_FORMAT_UNSIGNED_INT16:
    case CU_AD_FORMAT_SIGNED_INT16:
    case CU_AD_FORMAT_HALF:
      return 2;
    case CU_AD_FORMAT_UNSIGNED_INT32:
    case CU_AD_FORMAT_SIGNED_INT32:
    case CU_AD_FORMAT_FLOAT:
      return 4;
    default:
      return 0;
  }
}

CUresult ReadDescriptor(const CUDA_ARRAY3D_DESCRIPTOR& descriptor, Array* array) {
  array->element_bytes = FormatBytes(descriptor.Format) * descriptor.NumChannels;
  if (array->element_bytes == 0) return CUDA_ERROR_NOT_SUPPORTED;
  if (descriptor.NumChannels != 1 && descriptor.NumChannels != 2 && descriptor.NumChannels != 4) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  constexpr size_t kLongest = size_t{1} << 20;
  if (descriptor.Width == 0 || descriptor.Width > kLongest || descriptor.Height > kLongest ||
      descriptor.Depth > kLongest) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  array->width = descriptor.Width;
  array->height = descriptor.Height;
  array->depth = descriptor.Depth;
  array->format = descriptor.Format;
  array->channels = descriptor.NumChannels;
  array->flags = descriptor.Flags;
  return CUDA_SUCCESS;
}

CUresult TakeMemory(size_t bytes, int* device, char** memory) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  SIMCUDA_TRY(CheckUnsafeCall());
  Count(Counter::kAllocation);
  *device = context->device->ordinal;
  *memory = context->device->memory.Allocate(bytes);
  SIMCUDA_LOG_CALL("device %d: array of %zu bytes at %p", *device, bytes, static_cast<void*>(*memory));
  if (*memory != nullptr) {
    SIMCUDA_TELL(allocated, ActivityMemoryKind::kArray, *memory, bytes, *device);
    return CUDA_SUCCESS;
  }
  Count(Counter::kOutOfMemory);
  return CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult Create(CUarray* handle, const CUDA_ARRAY3D_DESCRIPTOR& descriptor) {
  SIMCUDA_TRY(CheckInitialized());
  Array array;
  SIMCUDA_TRY(ReadDescriptor(descriptor, &array));
  SIMCUDA_TRY(TakeMemory(array.bytes(), &array.device, &array.memory));
  *handle = reinterpret_cast<CUarray>(Handles<Array>::Create(array));
  return CUDA_SUCCESS;
}

CUDA_ARRAY3D_DESCRIPTOR DescriptorOf(const Array& array) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor = {};
  descriptor.Width = array.width;
  descriptor.Height = array.height;
  descriptor.Depth = array.depth;
  descriptor.Format = static_cast<CUarray_format>(array.format);
  descriptor.NumChannels = array.channels;
  descriptor.Flags = array.flags;
  return descriptor;
}

struct TextureObject {
  CUDA_RESOURCE_DESC resource;
};

}  // namespace

extern "C" {

CUresult cuArrayCreate_v2(CUarray* array, const CUDA_ARRAY_DESCRIPTOR* flat) {
  if (array == nullptr || flat == nullptr) return CUDA_ERROR_INVALID_VALUE;
  CUDA_ARRAY3D_DESCRIPTOR descriptor = {};
  descriptor.Width = flat->Width;
  descriptor.Height = flat->Height;
  descriptor.Format = flat->Format;
  descriptor.NumChannels = flat->NumChannels;
  return Create(array, descriptor);
}

CUresult cuArray3DCreate_v2(CUarray* array, const CUDA_ARRAY3D_DESCRIPTOR* descriptor) {
  if (array == nullptr || descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return Create(array, *descriptor);
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* descriptor, CUarray handle) {
  Array* array = Handles<Array>::Get(handle);
  if (array == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *descriptor = DescriptorOf(*array);
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray handle) {
  SIMCUDA_TRY(CheckInitialized());
  Array* array = Handles<Array>::Get(handle);
  if (array == nullptr || !array->owned) return CUDA_ERROR_INVALID_HANDLE;
  Count(Counter::kFree);
  SIMCUDA_TELL(released, array->memory);
  GetDevice(array->device).memory.Free(array->memory);
  Handles<Array>::Destroy(array);
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* handle, const CUDA_ARRAY3D_DESCRIPTOR* descriptor, unsigned levels) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr || descriptor == nullptr || levels == 0) return CUDA_ERROR_INVALID_VALUE;
  MipmappedArray mipmapped;
  std::vector<Array> shapes;
  size_t bytes = 0;
  Array shape;
  SIMCUDA_TRY(ReadDescriptor(*descriptor, &shape));
  for (unsigned level = 0; level < levels; ++level) {
    shapes.push_back(shape);
    bytes += shape.bytes();
    if (shape.width == 1 && shape.height <= 1 && shape.depth <= 1) break;
    shape.width = std::max(shape.width / 2, size_t{1});
    if (shape.height > 1) shape.height /= 2;
    if (shape.depth > 1) shape.depth /= 2;
  }
  SIMCUDA_TRY(TakeMemory(bytes, &mipmapped.device, &mipmapped.memory));
  char* memory = mipmapped.memory;
  for (Array& level : shapes) {
    level.device = mipmapped.device;
    level.memory = memory;
    level.owned = false;
    memory += level.bytes();
    mipmapped.levels.push_back(Handles<Array>::Create(level));
  }
  *handle = reinterpret_cast<CUmipmappedArray>(Handles<MipmappedArray>::Create(mipmapped));
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayGetLevel(CUarray* array, CUmipmappedArray handle, unsigned level) {
  MipmappedArray* mipmapped = Handles<MipmappedArray>::Get(handle);
  if (mipmapped == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (array == nullptr || level >= mipmapped->levels.size()) return CUDA_ERROR_INVALID_VALUE;
  *array = reinterpret_cast<CUarray>(mipmapped->levels[level]);
  return CUDA_SUCCESS;
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  SIMCUDA_TRY(CheckInitialized());
  MipmappedArray* mipmapped = Handles<MipmappedArray>::Get(handle);
  if (mipmapped == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Count(Counter::kFree);
  for (Array* level : mipmapped->levels) Handles<Array>::Destroy(level);
  SIMCUDA_TELL(released, mipmapped->memory);
  GetDevice(mipmapped->device).memory.Free(mipmapped->memory);
  Handles<MipmappedArray>::Destroy(mipmapped);
  return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject* object, const CUDA_RESOURCE_DESC* resource, const CUDA_TEXTURE_DESC*,
                           const CUDA_RESOURCE_VIEW_DESC*) {
  SIMCUDA_TRY(CheckInitialized());
  if (object == nullptr || resource == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *object = reinterpret_cast<CUtexObject>(Handles<TextureObject>::Create(TextureObject{*resource}));
  return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject object) {
  SIMCUDA_TRY(CheckInitialized());
  TextureObject* texture = Handles<TextureObject>::Get(object);
  if (texture == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Handles<TextureObject>::Destroy(texture);
  return CUDA_SUCCESS;
}

CUresult cuSurfObjectCreate(CUsurfObject* object, const CUDA_RESOURCE_DESC* resource) {
  return cuTexObjectCreate(object, resource, nullptr, nullptr);
}
CUresult cuSurfObjectDestroy(CUsurfObject object) { return cuTexObjectDestroy(object); }

}  // extern "C"

}  // namespace vramtrack::simcuda
