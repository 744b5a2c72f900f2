// SPDX-License-Identifier: Apache-2.0
// Green contexts: contexts with a part of the processors. Which part makes no difference where no kernel does anything.
#include <cuda.h>

#include <algorithm>
#include <cstring>

#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

constexpr unsigned kProcessors = 108;
constexpr unsigned kSmallestGroup = 2;

struct ResourceDescription {
  unsigned processors;
};

struct GreenContext {
  Context* context;
  unsigned processors;
};

CUresult Answer(CUdevResource* resource, CUdevResourceType type, unsigned processors) {
  if (resource == nullptr || type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
  memset(resource, 0, sizeof(*resource));
  resource->type = type;
  resource->sm.smCount = processors;
  return CUDA_SUCCESS;
}

CUresult Find(CUgreenCtx handle, GreenContext** green) {
  SIMCUDA_TRY(CheckInitialized());
  *green = Handles<GreenContext>::Get(handle);
  return *green != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT;
}

}  // namespace

extern "C" {

CUresult cuDeviceGetDevResource(CUdevice ordinal, CUdevResource* resource, CUdevResourceType type) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  return Answer(resource, type, kProcessors);
}

CUresult cuGreenCtxGetDevResource(CUgreenCtx handle, CUdevResource* resource, CUdevResourceType type) {
  GreenContext* green;
  SIMCUDA_TRY(Find(handle, &green));
  return Answer(resource, type, green->processors);
}

CUresult cuDevSmResourceSplitByCount(CUdevResource* groups, unsigned* count, const CUdevResource* whole,
                                     CUdevResource* rest, unsigned, unsigned least) {
  SIMCUDA_TRY(CheckInitialized());
  if (count == nullptr || whole == nullptr || whole->type != CU_DEV_RESOURCE_TYPE_SM) return CUDA_ERROR_INVALID_VALUE;
  const unsigned size = std::max((least + kSmallestGroup - 1) / kSmallestGroup * kSmallestGroup, kSmallestGroup);
  unsigned made = whole->sm.smCount / size;
  if (groups != nullptr) {
    made = std::min(made, *count);
    for (unsigned index = 0; index < made; ++index) SIMCUDA_TRY(Answer(&groups[index], whole->type, size));
  }
  *count = made;
  return rest == nullptr ? CUDA_SUCCESS : Answer(rest, whole->type, whole->sm.smCount - made * size);
}

// There is no call that ends a description.
CUresult cuDevResourceGenerateDesc(CUdevResourceDesc* description, CUdevResource* resources, unsigned count) {
  SIMCUDA_TRY(CheckInitialized());
  if (description == nullptr || resources == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  ResourceDescription sum = {0};
  for (unsigned index = 0; index < count; ++index) sum.processors += resources[index].sm.smCount;
  *description = reinterpret_cast<CUdevResourceDesc>(Handles<ResourceDescription>::Create(sum));
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxCreate(CUgreenCtx* handle, CUdevResourceDesc description, CUdevice ordinal, unsigned flags) {
  SIMCUDA_TRY(CheckInitialized());
  SIMCUDA_TRY(CheckDevice(ordinal));
  const ResourceDescription* resources = Handles<ResourceDescription>::Get(description);
  if (handle == nullptr || resources == nullptr || flags != CU_GREEN_CTX_DEFAULT_STREAM)
    return CUDA_ERROR_INVALID_VALUE;
  Context* context = new Context(&GetDevice(ordinal), 0, NextId());
  TakeContextMemory(context);
  GreenContext* green = Handles<GreenContext>::Create(GreenContext{context, resources->processors});
  context->green = green;
  *handle = reinterpret_cast<CUgreenCtx>(green);
  return CUDA_SUCCESS;
}

// Its context is left where it is: streams and events may still point at it.
CUresult cuGreenCtxDestroy(CUgreenCtx handle) {
  GreenContext* green;
  SIMCUDA_TRY(Find(handle, &green));
  ReturnContextMemory(green->context);
  Handles<GreenContext>::Destroy(green);
  return CUDA_SUCCESS;
}

CUresult cuCtxFromGreenCtx(CUcontext* context, CUgreenCtx handle) {
  GreenContext* green;
  SIMCUDA_TRY(Find(handle, &green));
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = reinterpret_cast<CUcontext>(green->context);
  return CUDA_SUCCESS;
}

CUresult cuGreenCtxStreamCreate(CUstream* stream, CUgreenCtx handle, unsigned flags, int priority) {
  GreenContext* green;
  SIMCUDA_TRY(Find(handle, &green));
  if (stream == nullptr || flags != CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  *stream = reinterpret_cast<CUstream>(Handles<Stream>::Create(green->context, flags, priority, NextId()));
  return CUDA_SUCCESS;
}

CUresult cuStreamGetGreenCtx(CUstream handle, CUgreenCtx* green) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (green == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *green = reinterpret_cast<CUgreenCtx>(stream->context->green);
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
