// SPDX-License-Identifier: Apache-2.0
// Memory and semaphores of other interfaces, such as Vulkan's. Any open file descriptor stands for some; what it says
// is never read.
#include <cuda.h>
#include <fcntl.h>
#include <unistd.h>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

struct ExternalMemory {
  int device;
  unsigned long long bytes;
};

struct ExternalSemaphore {
  Context* context;
};

// The driver owns a descriptor that was imported.
bool TakeDescriptor(int descriptor) {
  if (fcntl(descriptor, F_GETFD) < 0) return false;
  close(descriptor);
  return true;
}

// Signals and waits are done when they are submitted.
CUresult CheckSemaphores(const CUexternalSemaphore* semaphores, const void* parameters, unsigned count,
                         CUstream handle) {
  Stream* stream;
  SIMCUDA_TRY(CurrentStream(handle, &stream));
  if (semaphores == nullptr || parameters == nullptr) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned index = 0; index < count; ++index) {
    if (Handles<ExternalSemaphore>::Get(semaphores[index]) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuImportExternalMemory(CUexternalMemory* memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC* description) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (memory == nullptr || description == nullptr || description->size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (description->type != CU_EXTERNAL_MEMORY_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_NOT_SUPPORTED;
  if (!TakeDescriptor(description->handle.fd)) return CUDA_ERROR_INVALID_HANDLE;
  const ExternalMemory imported = {context->device->ordinal, description->size};
  *memory = reinterpret_cast<CUexternalMemory>(Handles<ExternalMemory>::Create(imported));
  return CUDA_SUCCESS;
}

// The memory is taken from the device here, and given back by cuMemFree.
CUresult cuExternalMemoryGetMappedBuffer(CUdeviceptr* pointer, CUexternalMemory handle,
                                         const CUDA_EXTERNAL_MEMORY_BUFFER_DESC* description) {
  SIMCUDA_TRY(CheckInitialized());
  ExternalMemory* memory = Handles<ExternalMemory>::Get(handle);
  if (memory == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (pointer == nullptr || description == nullptr || description->size == 0) return CUDA_ERROR_INVALID_VALUE;
  if (description->offset > memory->bytes || description->size > memory->bytes - description->offset) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  char* address = GetDevice(memory->device).memory.Allocate(description->size);
  if (address == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
  Count(Counter::kAllocation);
  SIMCUDA_LOG_CALL("device %d: external memory of %llu bytes at %p", memory->device, description->size,
                   static_cast<void*>(address));
  *pointer = ToPointer(address);
  return CUDA_SUCCESS;
}

CUresult cuExternalMemoryGetMappedMipmappedArray(CUmipmappedArray* array, CUexternalMemory handle,
                                                 const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC* description) {
  SIMCUDA_TRY(CheckInitialized());
  if (Handles<ExternalMemory>::Get(handle) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (array == nullptr || description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  return cuMipmappedArrayCreate(array, &description->arrayDesc, description->numLevels);
}

// What is mapped stays.
CUresult cuDestroyExternalMemory(CUexternalMemory handle) {
  SIMCUDA_TRY(CheckInitialized());
  ExternalMemory* memory = Handles<ExternalMemory>::Get(handle);
  if (memory == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Handles<ExternalMemory>::Destroy(memory);
  return CUDA_SUCCESS;
}

CUresult cuImportExternalSemaphore(CUexternalSemaphore* semaphore,
                                   const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC* description) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (semaphore == nullptr || description == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (description->type != CU_EXTERNAL_SEMAPHORE_HANDLE_TYPE_OPAQUE_FD) return CUDA_ERROR_NOT_SUPPORTED;
  if (!TakeDescriptor(description->handle.fd)) return CUDA_ERROR_INVALID_HANDLE;
  *semaphore = reinterpret_cast<CUexternalSemaphore>(Handles<ExternalSemaphore>::Create(ExternalSemaphore{context}));
  return CUDA_SUCCESS;
}

CUresult cuDestroyExternalSemaphore(CUexternalSemaphore handle) {
  SIMCUDA_TRY(CheckInitialized());
  ExternalSemaphore* semaphore = Handles<ExternalSemaphore>::Get(handle);
  if (semaphore == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Handles<ExternalSemaphore>::Destroy(semaphore);
  return CUDA_SUCCESS;
}

CUresult cuSignalExternalSemaphoresAsync(const CUexternalSemaphore* semaphores,
                                         const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS* parameters, unsigned count,
                                         CUstream stream) {
  return CheckSemaphores(semaphores, parameters, count, stream);
}

CUresult cuWaitExternalSemaphoresAsync(const CUexternalSemaphore* semaphores,
                                       const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS* parameters, unsigned count,
                                       CUstream stream) {
  return CheckSemaphores(semaphores, parameters, count, stream);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
