// SPDX-License-Identifier: Apache-2.0
// Handles of memory and events for other processes. The process that made one may open it too; it then gets a second
// address, as another one does. Nothing is taken from the opener's device: every process has its own.
#include <cuda.h>
#include <fcntl.h>
#include <unistd.h>

#include <cstring>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/other_process.h"
#include "tests/simcuda/device/virtual_memory.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

struct MemoryTicket {
  char magic[8];
  pid_t process;
  int device;
  CUdeviceptr base;
  size_t bytes;
  int file;       // behind the device, as the process has it open
  size_t offset;  // in that
};
static_assert(sizeof(MemoryTicket) <= sizeof(CUipcMemHandle), "a handle has room for it");

struct EventTicket {
  char magic[8];
  pid_t process;
  CUevent event;
};
static_assert(sizeof(EventTicket) <= sizeof(CUipcEventHandle), "a handle has room for it");

constexpr char kMemoryMagic[8] = {'s', 'i', 'm', 'c', 'u', 'd', 'a', 'm'};
constexpr char kEventMagic[8] = {'s', 'i', 'm', 'c', 'u', 'd', 'a', 'e'};

}  // namespace

extern "C" {

CUresult cuIpcGetMemHandle(CUipcMemHandle* handle, CUdeviceptr pointer) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const PointerInfo info = Describe(ToAddress(pointer));
  if (info.kind != PointerInfo::Kind::kDevice || info.mapped || info.pool != nullptr) return CUDA_ERROR_INVALID_VALUE;
  Arena& arena = GetDevice(info.device).memory.arena();
  MemoryTicket ticket = {{}, getpid(), info.device, ToPointer(info.base), info.bytes, arena.file(), 0};
  ticket.offset = static_cast<size_t>(info.base - arena.base());
  memcpy(ticket.magic, kMemoryMagic, sizeof(kMemoryMagic));
  memset(handle, 0, sizeof(*handle));
  memcpy(handle, &ticket, sizeof(ticket));
  return CUDA_SUCCESS;
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr* pointer, CUipcMemHandle handle, unsigned) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (pointer == nullptr) return CUDA_ERROR_INVALID_VALUE;
  MemoryTicket ticket;
  memcpy(&ticket, &handle, sizeof(ticket));
  if (memcmp(ticket.magic, kMemoryMagic, sizeof(kMemoryMagic)) != 0) return CUDA_ERROR_INVALID_VALUE;
  char* window = nullptr;
  VirtualMemory::Result result;
  if (ticket.process == getpid()) {
    const PointerInfo info = Describe(ToAddress(ticket.base));
    if (info.kind != PointerInfo::Kind::kDevice || ToPointer(info.base) != ticket.base) return CUDA_ERROR_INVALID_VALUE;
    result =
        VirtualMemory::Get().OpenWindow(&GetDevice(info.device).memory, info.device, info.base, info.bytes, &window);
  } else {
    SIMCUDA_TRY(CheckDevice(ticket.device));
    const int file = OpenFileOf(ticket.process, ticket.file);
    if (file < 0 && (ticket.file >= 0 || !Runs(ticket.process))) return CUDA_ERROR_INVALID_VALUE;
    result = VirtualMemory::Get().OpenForeignWindow(ticket.process, ToAddress(ticket.base), ticket.device, file,
                                                    ticket.offset, ticket.bytes, &window);
  }
  if (result != VirtualMemory::Result::kOk) return CUDA_ERROR_OUT_OF_MEMORY;
  SIMCUDA_LOG_CALL("opened %p of process %d as %p", static_cast<void*>(ToAddress(ticket.base)), ticket.process,
                   static_cast<void*>(window));
  *pointer = ToPointer(window);
  return CUDA_SUCCESS;
}

CUresult cuIpcCloseMemHandle(CUdeviceptr pointer) {
  SIMCUDA_TRY(CheckInitialized());
  const VirtualMemory::Result result = VirtualMemory::Get().CloseWindow(ToAddress(pointer));
  return result == VirtualMemory::Result::kOk ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle* handle, CUevent event_handle) {
  SIMCUDA_TRY(CheckInitialized());
  Event* event = Handles<Event>::Get(event_handle);
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (event == nullptr || (event->flags & CU_EVENT_INTERPROCESS) == 0) return CUDA_ERROR_INVALID_HANDLE;
  EventTicket ticket = {{}, getpid(), event_handle};
  memcpy(ticket.magic, kEventMagic, sizeof(kEventMagic));
  memset(handle, 0, sizeof(*handle));
  memcpy(handle, &ticket, sizeof(ticket));
  return CUDA_SUCCESS;
}

// The opened event is one of its own, which is done: whatever it stood for is.
CUresult cuIpcOpenEventHandle(CUevent* event, CUipcEventHandle handle) {
  Context* context;
  SIMCUDA_TRY(CurrentContext(&context));
  if (event == nullptr) return CUDA_ERROR_INVALID_VALUE;
  EventTicket ticket;
  memcpy(&ticket, &handle, sizeof(ticket));
  if (memcmp(ticket.magic, kEventMagic, sizeof(kEventMagic)) != 0) return CUDA_ERROR_INVALID_VALUE;
  *event = reinterpret_cast<CUevent>(
      Handles<Event>::Create(context, unsigned{CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING}));
  return CUDA_SUCCESS;
}

}  // extern "C"

// Memory and semaphores of other interfaces, such as Vulkan's. Any open file descriptor stands for some; what it says
// is never read.
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
