// SPDX-License-Identifier: Apache-2.0
// Virtual memory management: address ranges, memory without an address, and mappings between them.
#include "tests/simcuda/device/virtual_memory.h"

#include <cuda.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "tests/simcuda/device/clock.h"
#include "tests/simcuda/device/log.h"
#include "tests/simcuda/device/other_process.h"
#include "tests/simcuda/driver/current.h"

namespace vramtrack::simcuda {
namespace {

CUresult ToResult(VirtualMemory::Result result) {
  switch (result) {
    case VirtualMemory::Result::kOk:
      return CUDA_SUCCESS;
    case VirtualMemory::Result::kOutOfMemory:
      return CUDA_ERROR_OUT_OF_MEMORY;
    default:
      return CUDA_ERROR_INVALID_VALUE;
  }
}

PhysicalMemory* FromHandle(CUmemGenericAllocationHandle handle) { return reinterpret_cast<PhysicalMemory*>(handle); }
CUmemGenericAllocationHandle ToHandle(PhysicalMemory* memory) {
  return reinterpret_cast<CUmemGenericAllocationHandle>(memory);
}

// Written into the file behind an exported descriptor, with the runs of pages behind it, as offsets on the device.
struct SharedHandle {
  char magic[8];
  pid_t process;
  PhysicalMemory* memory;
  int device;
  int file;  // behind the device, as the process has it open
  size_t bytes;
  size_t runs;
};
constexpr char kMagic[8] = {'s', 'i', 'm', 'c', 'u', 'd', 'a', '1'};

bool WriteShared(int file, PhysicalMemory* memory) {
  const Arena& arena = GetDevice(memory->device).memory.arena();
  SharedHandle content = {{}, getpid(), memory, memory->device, arena.file(), memory->bytes, memory->runs.size()};
  memcpy(content.magic, kMagic, sizeof(kMagic));
  std::vector<DeviceMemory::PageRun> runs = memory->runs;
  for (DeviceMemory::PageRun& run : runs) run.base = reinterpret_cast<char*>(run.base - arena.base());
  const size_t bytes = runs.size() * sizeof(runs[0]);
  return pwrite(file, &content, sizeof(content), 0) == static_cast<ssize_t>(sizeof(content)) &&
         pwrite(file, runs.data(), bytes, sizeof(content)) == static_cast<ssize_t>(bytes);
}

// What another process exported.
CUresult ImportForeign(int file, const SharedHandle& content, PhysicalMemory** memory) {
  SIMCUDA_TRY(CheckDevice(content.device));
  struct stat status;
  if (fstat(file, &status) != 0 || static_cast<size_t>(status.st_size) / sizeof(DeviceMemory::PageRun) < content.runs) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  std::vector<DeviceMemory::PageRun> runs(content.runs);
  const size_t bytes = runs.size() * sizeof(runs[0]);
  if (pread(file, runs.data(), bytes, sizeof(content)) != static_cast<ssize_t>(bytes)) return CUDA_ERROR_INVALID_VALUE;
  const int device_file = OpenFileOf(content.process, content.file);
  if (device_file < 0 && (content.file >= 0 || !Runs(content.process))) return CUDA_ERROR_INVALID_VALUE;
  *memory = VirtualMemory::Get().AdoptForeign(content.device, device_file, content.bytes, runs);
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  SIMCUDA_TRY(CheckInitialized());
  if (granularity == nullptr || properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *granularity = kPageBytes;
  return CUDA_SUCCESS;
}

CUresult cuMemAddressReserve(CUdeviceptr* pointer, size_t bytes, size_t alignment, CUdeviceptr wish,
                             unsigned long long flags) {
  SIMCUDA_TRY(CheckInitialized());
  if (pointer == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  char* address = nullptr;
  SIMCUDA_TRY(ToResult(VirtualMemory::Get().Reserve(bytes, alignment, ToAddress(wish), &address)));
  *pointer = ToPointer(address);
  SIMCUDA_LOG_CALL("reserved %zu bytes of addresses at %p", bytes, static_cast<void*>(address));
  return CUDA_SUCCESS;
}

CUresult cuMemAddressFree(CUdeviceptr pointer, size_t bytes) {
  SIMCUDA_TRY(CheckInitialized());
  return ToResult(VirtualMemory::Get().Release(ToAddress(pointer), bytes));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr || properties == nullptr || flags != 0 || bytes == 0 || bytes % kPageBytes != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE) return CUDA_ERROR_NOT_SUPPORTED;
  SIMCUDA_TRY(CheckDevice(properties->location.id));
  if (GetOptions().allocation_delay_ns != 0) SpinNs(GetOptions().allocation_delay_ns);
  Count(Counter::kAllocation);
  PhysicalMemory* memory = nullptr;
  const VirtualMemory::Result result = VirtualMemory::Get().Create(
      properties->location.id, bytes, static_cast<unsigned>(properties->requestedHandleTypes), &memory);
  if (result == VirtualMemory::Result::kOutOfMemory) Count(Counter::kOutOfMemory);
  SIMCUDA_LOG_CALL("device %d: created %zu bytes: %p", properties->location.id, bytes, static_cast<void*>(memory));
  SIMCUDA_TRY(ToResult(result));
  *handle = ToHandle(memory);
  return CUDA_SUCCESS;
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  SIMCUDA_TRY(CheckInitialized());
  Count(Counter::kFree);
  SIMCUDA_LOG_CALL("release of %p", static_cast<void*>(FromHandle(handle)));
  return ToResult(VirtualMemory::Get().Drop(FromHandle(handle)));
}

CUresult cuMemMap(CUdeviceptr pointer, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  SIMCUDA_TRY(CheckInitialized());
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return ToResult(VirtualMemory::Get().Map(ToAddress(pointer), bytes, offset, FromHandle(handle)));
}

CUresult cuMemUnmap(CUdeviceptr pointer, size_t bytes) {
  SIMCUDA_TRY(CheckInitialized());
  return ToResult(VirtualMemory::Get().Unmap(ToAddress(pointer), bytes));
}

// Which device may use the memory makes no difference here: no kernel ever does.
CUresult cuMemSetAccess(CUdeviceptr pointer, size_t bytes, const CUmemAccessDesc* descriptors, size_t count) {
  SIMCUDA_TRY(CheckInitialized());
  if (descriptors == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  int access = 0;
  for (size_t index = 0; index < count; ++index) access |= static_cast<int>(descriptors[index].flags);
  return ToResult(VirtualMemory::Get().SetAccess(ToAddress(pointer), bytes, access));
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  SIMCUDA_TRY(CheckInitialized());
  VirtualMemory::Mapping mapping;
  if (handle == nullptr || !VirtualMemory::Get().FindMapping(address, &mapping)) return CUDA_ERROR_INVALID_VALUE;
  VirtualMemory::Get().Retain(mapping.memory);
  *handle = ToHandle(mapping.memory);
  return CUDA_SUCCESS;
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  SIMCUDA_TRY(CheckInitialized());
  PhysicalMemory* memory = FromHandle(handle);
  if (properties == nullptr || !VirtualMemory::Get().IsLive(memory)) return CUDA_ERROR_INVALID_VALUE;
  memset(properties, 0, sizeof(*properties));
  properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties->requestedHandleTypes = static_cast<CUmemAllocationHandleType>(memory->handle_types);
  properties->location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties->location.id = memory->device;
  return CUDA_SUCCESS;
}

CUresult cuMemExportToShareableHandle(void* shared, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long) {
  SIMCUDA_TRY(CheckInitialized());
  if (shared == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  PhysicalMemory* memory = FromHandle(handle);
  if (!VirtualMemory::Get().IsLive(memory) || memory->foreign) return CUDA_ERROR_INVALID_VALUE;
  const int file = memfd_create("simcuda-handle", MFD_CLOEXEC);
  if (file < 0) return CUDA_ERROR_OUT_OF_MEMORY;
  if (!WriteShared(file, memory)) {
    close(file);
    return CUDA_ERROR_UNKNOWN;
  }
  *static_cast<int*>(shared) = file;
  return CUDA_SUCCESS;
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shared,
                                        CUmemAllocationHandleType type) {
  SIMCUDA_TRY(CheckInitialized());
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  SharedHandle content;
  const int file = static_cast<int>(reinterpret_cast<intptr_t>(shared));
  if (pread(file, &content, sizeof(content), 0) != static_cast<ssize_t>(sizeof(content)) ||
      memcmp(content.magic, kMagic, sizeof(kMagic)) != 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  if (content.process != getpid()) {
    PhysicalMemory* memory = nullptr;
    SIMCUDA_TRY(ImportForeign(file, content, &memory));
    *handle = ToHandle(memory);
    return CUDA_SUCCESS;
  }
  if (!VirtualMemory::Get().IsLive(content.memory)) return CUDA_ERROR_INVALID_VALUE;
  VirtualMemory::Get().Retain(content.memory);
  *handle = ToHandle(content.memory);
  return CUDA_SUCCESS;
}

#undef cuMemAdvise
#undef cuMemPrefetchAsync
// Managed memory is host memory throughout: preferred locations are ignored.
CUresult cuMemAdvise(CUdeviceptr, size_t, CUmem_advise, CUdevice) { return CheckInitialized(); }
CUresult cuMemPrefetchAsync(CUdeviceptr, size_t, CUdevice, CUstream handle) {
  Stream* stream;
  return CurrentStream(handle, &stream);
}
CUresult cuMemAdvise_v2(CUdeviceptr, size_t, CUmem_advise, CUmemLocation) { return CheckInitialized(); }
CUresult cuMemPrefetchAsync_v2(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream handle) {
  Stream* stream;
  return CurrentStream(handle, &stream);
}

}  // extern "C"

}  // namespace vramtrack::simcuda
