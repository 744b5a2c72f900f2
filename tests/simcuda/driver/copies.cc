// SPDX-License-Identifier: Apache-2.0
// Copies and fills of linear memory. All are done when the call returns, the asynchronous ones too.
#include "tests/simcuda/driver/copies.h"

#include "tests/simcuda/device/array.h"
#include "tests/simcuda/device/handles.h"
#include "tests/simcuda/driver/activity.h"
#include "tests/simcuda/driver/capture.h"
#include "tests/simcuda/driver/current.h"

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

namespace {

CUresult Copy(void* to, const void* from, size_t bytes) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (!CopyBytes(to, from, bytes)) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TELL(copied, bytes, context->device->ordinal, 0);
  return CUDA_SUCCESS;
}

CUresult CopyOn(CUstream stream, void* to, const void* from, size_t bytes) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  Stream* resolved;
  SIMCUDA_TRY(CurrentStream(stream, &resolved));
  const int device = context->device->ordinal;
  const uint64_t id = resolved->id;
  return Submit(stream, CU_GRAPH_NODE_TYPE_MEMCPY, [=] {
    if (!CopyBytes(to, from, bytes)) return false;
    SIMCUDA_TELL(copied, bytes, device, id);
    return true;
  });
}

CUresult Fill(CUdeviceptr to, size_t pitch, uint32_t value, size_t element, size_t count, size_t rows) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (to % element != 0 || pitch % element != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!FillRows(ToAddress(to), pitch, value, element, count, rows)) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TELL(filled, element * count * rows, context->device->ordinal, 0);
  return CUDA_SUCCESS;
}

CUresult FillOn(CUstream stream, CUdeviceptr to, size_t pitch, uint32_t value, size_t element, size_t count,
                size_t rows) {
  if (to % element != 0 || pitch % element != 0) return CUDA_ERROR_INVALID_VALUE;
  Stream* resolved;
  SIMCUDA_TRY(CurrentStream(stream, &resolved));
  const int device = resolved->context->device->ordinal;
  const uint64_t id = resolved->id;
  return Submit(stream, CU_GRAPH_NODE_TYPE_MEMSET, [=] {
    if (!FillRows(ToAddress(to), pitch, value, element, count, rows)) return false;
    SIMCUDA_TELL(filled, element * count * rows, device, id);
    return true;
  });
}

CUresult CopyBox(const BoxCopy& copy) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  return copy.Run() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult CopyBoxOn(CUstream stream, const BoxCopy& copy) {
  return Submit(stream, CU_GRAPH_NODE_TYPE_MEMCPY, [copy] { return copy.Run(); });
}

template <typename Descriptor, typename Action>
CUresult WithBox(const Descriptor* descriptor, Action action) {
  if (descriptor == nullptr) return CUDA_ERROR_INVALID_VALUE;
  BoxCopy copy;
  if (!ReadBox(*descriptor, &copy)) return CUDA_ERROR_INVALID_VALUE;
  return action(copy);
}

}  // namespace

extern "C" {

CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return Copy(ToAddress(to), ToAddress(from), bytes);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return CopyOn(stream, ToAddress(to), ToAddress(from), bytes);
}
CUresult cuMemcpyPeer(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes) {
  return Copy(ToAddress(to), ToAddress(from), bytes);
}
CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext, CUdeviceptr from, CUcontext, size_t bytes, CUstream stream) {
  return CopyOn(stream, ToAddress(to), ToAddress(from), bytes);
}
CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) { return Copy(ToAddress(to), from, bytes); }
CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return CopyOn(stream, ToAddress(to), from, bytes);
}
CUresult cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) { return Copy(to, ToAddress(from), bytes); }
CUresult cuMemcpyDtoHAsync_v2(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return CopyOn(stream, to, ToAddress(from), bytes);
}
CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return Copy(ToAddress(to), ToAddress(from), bytes);
}
CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return CopyOn(stream, ToAddress(to), ToAddress(from), bytes);
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D* copy) { return WithBox(copy, CopyBox); }
CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D* copy, CUstream stream) {
  return WithBox(copy, [stream](const BoxCopy& box) { return CopyBoxOn(stream, box); });
}
CUresult cuMemcpy3D_v2(const CUDA_MEMCPY3D* copy) { return WithBox(copy, CopyBox); }
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D* copy, CUstream stream) {
  return WithBox(copy, [stream](const BoxCopy& box) { return CopyBoxOn(stream, box); });
}

CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t count) { return Fill(to, 0, value, 1, count, 1); }
CUresult cuMemsetD32_v2(CUdeviceptr to, unsigned value, size_t count) { return Fill(to, 0, value, 4, count, 1); }
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream stream) {
  return FillOn(stream, to, 0, value, 1, count, 1);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream stream) {
  return FillOn(stream, to, 0, value, 4, count, 1);
}
CUresult cuMemsetD2D8_v2(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height) {
  return Fill(to, pitch, value, 1, width, height);
}
CUresult cuMemsetD2D8Async(CUdeviceptr to, size_t pitch, unsigned char value, size_t width, size_t height,
                           CUstream stream) {
  return FillOn(stream, to, pitch, value, 1, width, height);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
