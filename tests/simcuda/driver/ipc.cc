// SPDX-License-Identifier: Apache-2.0
// Handles of memory and events for other processes. Only the process that made one can open it; it then gets a second
// address, as another process would.
#include <cuda.h>
#include <unistd.h>

#include <cstring>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/virtual_memory.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

struct MemoryTicket {
  char magic[8];
  pid_t process;
  CUdeviceptr base;
  size_t bytes;
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
  MemoryTicket ticket = {{}, getpid(), ToPointer(info.base), info.bytes};
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
  if (ticket.process != getpid()) return CUDA_ERROR_NOT_SUPPORTED;
  const PointerInfo info = Describe(ToAddress(ticket.base));
  if (info.kind != PointerInfo::Kind::kDevice || ToPointer(info.base) != ticket.base) return CUDA_ERROR_INVALID_VALUE;
  char* window = nullptr;
  const VirtualMemory::Result result =
      VirtualMemory::Get().OpenWindow(&GetDevice(info.device).memory, info.device, info.base, info.bytes, &window);
  if (result != VirtualMemory::Result::kOk) return CUDA_ERROR_OUT_OF_MEMORY;
  SIMCUDA_LOG_CALL("opened %p as %p", static_cast<void*>(info.base), static_cast<void*>(window));
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
  if (ticket.process != getpid()) return CUDA_ERROR_NOT_SUPPORTED;
  *event = reinterpret_cast<CUevent>(
      Handles<Event>::Create(context, unsigned{CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING}));
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
