// SPDX-License-Identifier: Apache-2.0
// Pools and their allocations for other processes. Only the process that made one can open it; it then gets a second
// pool, and second addresses.
#include <cuda.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/virtual_memory.h"
#include "tests/simcuda/driver/current.h"
#include "tests/simcuda/driver/pool_handles.h"

namespace vramtrack::simcuda {
namespace {

struct Ticket {
  char magic[8];
  pid_t process;
  void* object;  // a pool, or an address of one
};
static_assert(sizeof(Ticket) <= sizeof(CUmemPoolPtrExportData), "the data has room for it");

constexpr char kPoolMagic[8] = {'s', 'i', 'm', 'c', 'u', 'd', 'a', 'p'};
constexpr char kPointerMagic[8] = {'s', 'i', 'm', 'c', 'u', 'd', 'a', 'a'};

Ticket MakeTicket(const char (&magic)[8], void* object) {
  Ticket ticket = {{}, getpid(), object};
  memcpy(ticket.magic, magic, sizeof(magic));
  return ticket;
}

CUresult Check(const Ticket& ticket, const char (&magic)[8]) {
  if (memcmp(ticket.magic, magic, sizeof(magic)) != 0) return CUDA_ERROR_INVALID_VALUE;
  return ticket.process == getpid() ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

extern "C" {

CUresult cuMemPoolExportToShareableHandle(void* shared, CUmemoryPool handle, CUmemAllocationHandleType type,
                                          unsigned long long flags) {
  SIMCUDA_TRY(CheckInitialized());
  MemoryPool* pool = PoolFromHandle(handle);
  if (shared == nullptr || pool == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  const Ticket ticket = MakeTicket(kPoolMagic, pool);
  const int file = memfd_create("simcuda-pool", MFD_CLOEXEC);
  if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (pwrite(file, &ticket, sizeof(ticket), 0) != static_cast<ssize_t>(sizeof(ticket))) {
    close(file);
    return CUDA_ERROR_UNKNOWN;
  }
  *static_cast<int*>(shared) = file;
  return CUDA_SUCCESS;
}

CUresult cuMemPoolImportFromShareableHandle(CUmemoryPool* handle, void* shared, CUmemAllocationHandleType type,
                                            unsigned long long flags) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  Ticket ticket;
  const int file = static_cast<int>(reinterpret_cast<intptr_t>(shared));
  if (pread(file, &ticket, sizeof(ticket), 0) != static_cast<ssize_t>(sizeof(ticket))) return CUDA_ERROR_INVALID_VALUE;
  SIMCUDA_TRY(Check(ticket, kPoolMagic));
  MemoryPool* exported = PoolFromHandle(reinterpret_cast<CUmemoryPool>(ticket.object));
  if (exported == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Device& device = GetDevice(exported->device());
  MemoryPool* pool = Handles<MemoryPool>::Create(device.ordinal, &device.memory, size_t{0});
  pool->imported = true;
  device.AddPool(pool);
  *handle = reinterpret_cast<CUmemoryPool>(pool);
  return CUDA_SUCCESS;
}

CUresult cuMemPoolExportPointer(CUmemPoolPtrExportData* data, CUdeviceptr pointer) {
  SIMCUDA_TRY(CheckInitialized());
  if (data == nullptr || Describe(ToAddress(pointer)).pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const Ticket ticket = MakeTicket(kPointerMagic, ToAddress(pointer));
  memset(data, 0, sizeof(*data));
  memcpy(data, &ticket, sizeof(ticket));
  return CUDA_SUCCESS;
}

// Given back by cuMemFree or cuMemFreeAsync, before the exporter frees it.
CUresult cuMemPoolImportPointer(CUdeviceptr* pointer, CUmemoryPool handle, CUmemPoolPtrExportData* data) {
  SIMCUDA_TRY(CheckInitialized());
  MemoryPool* pool = PoolFromHandle(handle);
  if (pointer == nullptr || data == nullptr || pool == nullptr || !pool->imported) return CUDA_ERROR_INVALID_VALUE;
  Ticket ticket;
  memcpy(&ticket, data, sizeof(ticket));
  SIMCUDA_TRY(Check(ticket, kPointerMagic));
  const PointerInfo info = Describe(ticket.object);
  if (info.pool == nullptr) return CUDA_ERROR_INVALID_VALUE;
  char* window = nullptr;
  const VirtualMemory::Result result =
      VirtualMemory::Get().OpenWindow(&GetDevice(info.device).memory, info.device, info.base, info.bytes, &window);
  if (result != VirtualMemory::Result::kOk) return CUDA_ERROR_OUT_OF_MEMORY;
  SIMCUDA_LOG_CALL("imported %p as %p", ticket.object, static_cast<void*>(window));
  *pointer = ToPointer(window);
  return CUDA_SUCCESS;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
