// SPDX-License-Identifier: Apache-2.0
// Arrays, copies to and from them, textures and surfaces.
#include <algorithm>

#include "tests/simcuda/device/handles.h"
#include "tests/simcuda/runtime/copies.h"
#include "tests/simcuda/runtime/driver.h"

namespace vramtrack::simcuda {
namespace {

CUDA_ARRAY3D_DESCRIPTOR Describe(const cudaChannelFormatDesc& description, cudaExtent extent, unsigned flags) {
  CUDA_ARRAY3D_DESCRIPTOR descriptor = {};
  descriptor.Width = extent.width;
  descriptor.Height = extent.height;
  descriptor.Depth = extent.depth;
  descriptor.Format = ToFormat(description, &descriptor.NumChannels);
  descriptor.Flags = flags;
  return descriptor;
}

// A rectangle of an array; `width` and `x` are in bytes in these calls.
CUDA_MEMCPY2D ToArrayCopy(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                          size_t height) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.srcDevice = ToPointer(from);
  copy.srcPitch = pitch;
  copy.dstMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.dstArray = ToArray(to);
  copy.dstXInBytes = x;
  copy.dstY = y;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

CUDA_MEMCPY2D FromArrayCopy(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                            size_t height) {
  CUDA_MEMCPY2D copy = {};
  copy.srcMemoryType = CU_MEMORYTYPE_ARRAY;
  copy.srcArray = ToArray(from);
  copy.srcXInBytes = x;
  copy.srcY = y;
  copy.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  copy.dstDevice = ToPointer(to);
  copy.dstPitch = pitch;
  copy.WidthInBytes = width;
  copy.Height = height;
  return copy;
}

// Only what was given can be asked for: no kernel reads a texture.
struct Texture {
  cudaResourceDesc resource;
  cudaTextureDesc texture;
};

}  // namespace

extern "C" {

cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
  return {x, y, z, w, kind};
}

cudaError_t cudaMalloc3DArray(cudaArray_t* array, const cudaChannelFormatDesc* description, cudaExtent extent,
                              unsigned flags) {
  if (array == nullptr || description == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  const CUDA_ARRAY3D_DESCRIPTOR descriptor = Describe(*description, extent, flags);
  return Done(DRIVER(cuArray3DCreate_v2)(reinterpret_cast<CUarray*>(array), &descriptor));
}

cudaError_t cudaMallocArray(cudaArray_t* array, const cudaChannelFormatDesc* description, size_t width, size_t height,
                            unsigned flags) {
  return cudaMalloc3DArray(array, description, {width, height, 0}, flags);
}

cudaError_t cudaFreeArray(cudaArray_t array) {
  RUNTIME_TRY(Bind());
  return array == nullptr ? cudaSuccess : Done(DRIVER(cuArrayDestroy)(ToArray(array)));
}

cudaError_t cudaMallocMipmappedArray(cudaMipmappedArray_t* array, const cudaChannelFormatDesc* description,
                                     cudaExtent extent, unsigned levels, unsigned flags) {
  if (array == nullptr || description == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  const CUDA_ARRAY3D_DESCRIPTOR descriptor = Describe(*description, extent, flags);
  return Done(DRIVER(cuMipmappedArrayCreate)(reinterpret_cast<CUmipmappedArray*>(array), &descriptor, levels));
}

cudaError_t cudaGetMipmappedArrayLevel(cudaArray_t* level_array, cudaMipmappedArray_const_t array, unsigned level) {
  RUNTIME_TRY(Bind());
  CUmipmappedArray mipmapped = reinterpret_cast<CUmipmappedArray>(const_cast<cudaMipmappedArray*>(array));
  return Done(DRIVER(cuMipmappedArrayGetLevel)(reinterpret_cast<CUarray*>(level_array), mipmapped, level));
}

cudaError_t cudaFreeMipmappedArray(cudaMipmappedArray_t array) {
  RUNTIME_TRY(Bind());
  return array == nullptr ? cudaSuccess
                          : Done(DRIVER(cuMipmappedArrayDestroy)(reinterpret_cast<CUmipmappedArray>(array)));
}

cudaError_t cudaArrayGetInfo(cudaChannelFormatDesc* description, cudaExtent* extent, unsigned* flags,
                             cudaArray_t array) {
  RUNTIME_TRY(Bind());
  CUDA_ARRAY3D_DESCRIPTOR descriptor;
  RUNTIME_TRY(static_cast<cudaError_t>(DRIVER(cuArray3DGetDescriptor_v2)(&descriptor, ToArray(array))));
  if (description != nullptr) *description = ToDescription(descriptor.Format, descriptor.NumChannels);
  if (extent != nullptr) *extent = {descriptor.Width, descriptor.Height, descriptor.Depth};
  if (flags != nullptr) *flags = descriptor.Flags;
  return cudaSuccess;
}

cudaError_t cudaMemcpy2DToArray(cudaArray_t to, size_t x, size_t y, const void* from, size_t pitch, size_t width,
                                size_t height, cudaMemcpyKind) {
  RUNTIME_TRY(Bind());
  const CUDA_MEMCPY2D copy = ToArrayCopy(to, x, y, from, pitch, width, height);
  return Done(DRIVER(cuMemcpy2DUnaligned_v2)(&copy));
}

cudaError_t cudaMemcpy2DFromArray(void* to, size_t pitch, cudaArray_const_t from, size_t x, size_t y, size_t width,
                                  size_t height, cudaMemcpyKind) {
  RUNTIME_TRY(Bind());
  const CUDA_MEMCPY2D copy = FromArrayCopy(to, pitch, from, x, y, width, height);
  return Done(DRIVER(cuMemcpy2DUnaligned_v2)(&copy));
}

cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* parameters) {
  if (parameters == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  CUDA_MEMCPY3D copy;
  if (!ToDriverCopy(*parameters, &copy)) return Done(cudaErrorInvalidResourceHandle);
  return Done(DRIVER(cuMemcpy3D_v2)(&copy));
}

cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* parameters, cudaStream_t stream) {
  if (parameters == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  CUDA_MEMCPY3D copy;
  if (!ToDriverCopy(*parameters, &copy)) return Done(cudaErrorInvalidResourceHandle);
  return Done(DRIVER(cuMemcpy3DAsync_v2)(&copy, stream));
}

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* object, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture, const cudaResourceViewDesc*) {
  if (object == nullptr || resource == nullptr) return Done(cudaErrorInvalidValue);
  RUNTIME_TRY(Bind());
  Texture* created = Handles<Texture>::Create();
  created->resource = *resource;
  created->texture = texture != nullptr ? *texture : cudaTextureDesc{};
  *object = reinterpret_cast<cudaTextureObject_t>(created);
  return cudaSuccess;
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  RUNTIME_TRY(Bind());
  Texture* texture = Handles<Texture>::Get(object);
  if (texture != nullptr) Handles<Texture>::Destroy(texture);
  return cudaSuccess;
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* object, const cudaResourceDesc* resource) {
  return cudaCreateTextureObject(object, resource, nullptr, nullptr);
}
cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) { return cudaDestroyTextureObject(object); }

}  // extern "C"

}  // namespace vramtrack::simcuda
