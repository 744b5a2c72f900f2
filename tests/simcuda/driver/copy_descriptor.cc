// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/driver/copy_descriptor.h"

#include "tests/simcuda/device/array.h"
#include "tests/simcuda/device/handles.h"

namespace vramtrack::simcuda {
namespace {

struct Place {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t x, y, z;        // bytes, rows, slices
  size_t pitch, height;  // of host and device memory
};

bool Locate(const Place& place, size_t row_bytes, Pitched* located) {
  if (place.type == CU_MEMORYTYPE_ARRAY) {
    Array* array = Handles<Array>::Get(place.array);
    if (array == nullptr) return false;
    located->row_pitch = array->row_bytes();
    located->slice_pitch = array->row_bytes() * array->rows();
    located->base = array->memory;
  } else {
    located->row_pitch = place.pitch != 0 ? place.pitch : row_bytes;
    located->slice_pitch = located->row_pitch * place.height;
    located->base =
        place.type == CU_MEMORYTYPE_HOST ? const_cast<void*>(place.host) : reinterpret_cast<void*>(place.device);
  }
  if (located->base == nullptr || located->row_pitch < row_bytes) return false;
  located->base =
      static_cast<char*>(located->base) + place.x + place.y * located->row_pitch + place.z * located->slice_pitch;
  return true;
}

template <typename Descriptor>
bool ReadBox3D(const Descriptor& d, BoxCopy* copy) {
  copy->bytes = d.WidthInBytes;
  copy->rows = d.Height;
  copy->slices = d.Depth;
  const Place from = {d.srcMemoryType, d.srcHost, d.srcDevice, d.srcArray, d.srcXInBytes,
                      d.srcY,          d.srcZ,    d.srcPitch,  d.srcHeight};
  const Place to = {d.dstMemoryType, d.dstHost, d.dstDevice, d.dstArray, d.dstXInBytes,
                    d.dstY,          d.dstZ,    d.dstPitch,  d.dstHeight};
  if (copy->bytes == 0 || copy->rows == 0 || copy->slices == 0) return true;
  return Locate(from, copy->bytes, &copy->from) && Locate(to, copy->bytes, &copy->to);
}

}  // namespace

bool ReadBox(const CUDA_MEMCPY2D& d, BoxCopy* copy) {
  copy->bytes = d.WidthInBytes;
  copy->rows = d.Height;
  copy->slices = 1;
  if (copy->bytes == 0 || copy->rows == 0) return true;
  const Place from = {d.srcMemoryType, d.srcHost, d.srcDevice, d.srcArray, d.srcXInBytes, d.srcY, 0, d.srcPitch, 0};
  const Place to = {d.dstMemoryType, d.dstHost, d.dstDevice, d.dstArray, d.dstXInBytes, d.dstY, 0, d.dstPitch, 0};
  return Locate(from, copy->bytes, &copy->from) && Locate(to, copy->bytes, &copy->to);
}

bool ReadBox(const CUDA_MEMCPY3D& descriptor, BoxCopy* copy) { return ReadBox3D(descriptor, copy); }
bool ReadBox(const CUDA_MEMCPY3D_PEER& descriptor, BoxCopy* copy) { return ReadBox3D(descriptor, copy); }

}  // namespace vramtrack::simcuda
