// SPDX-License-Identifier: Apache-2.0
#include "tests/simcuda/libraries/nccl.h"

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>

struct ncclComm {
  int device = 0;
  void* workspace = nullptr;
  void* pinned = nullptr;
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr;
  int ranks = 1, rank = 0;
};

namespace vramtrack::simcuda {
namespace {

template <typename Function>
Function* Find(const char* name) {
  void* found = nullptr;
  cudaDriverEntryPointQueryResult status;
  cudaGetDriverEntryPointByVersion(name, &found, 10020, cudaEnableDefault, &status);
  return reinterpret_cast<Function*>(found);
}

#define DRIVER_FUNCTION(name)                                    \
  ([] {                                                          \
    static auto* const function = Find<decltype(::name)>(#name); \
    return function;                                             \
  }())

CUmemAllocationProp PropertiesOn(int device) {
  CUmemAllocationProp properties = {};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  properties.location.id = device;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  return properties;
}

// Memory of the current device by virtual memory management, whose functions the runtime looks up in the driver. False
// if any of them fails.
bool AllocateMapped(void** address, size_t bytes) {
  int device = 0;
  if (cudaFree(nullptr) != cudaSuccess || cudaGetDevice(&device) != cudaSuccess) return false;
  const CUmemAllocationProp properties = PropertiesOn(device);
  size_t granularity = 0;
  DRIVER_FUNCTION(cuMemGetAllocationGranularity)
  (&granularity, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
  if (granularity == 0 || bytes == 0) return false;
  bytes = (bytes + granularity - 1) / granularity * granularity;

  CUmemGenericAllocationHandle memory;
  CUdeviceptr pointer;
  if (DRIVER_FUNCTION(cuMemCreate)(&memory, bytes, &properties, 0) != CUDA_SUCCESS) return false;
  bool done = DRIVER_FUNCTION(cuMemAddressReserve)(&pointer, bytes, granularity, 0, 0) == CUDA_SUCCESS;
  if (done) {
    CUmemAccessDesc access = {properties.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    done = DRIVER_FUNCTION(cuMemMap)(pointer, bytes, 0, memory, 0) == CUDA_SUCCESS &&
           DRIVER_FUNCTION(cuMemSetAccess)(pointer, bytes, &access, 1) == CUDA_SUCCESS;
    if (!done) DRIVER_FUNCTION(cuMemAddressFree)(pointer, bytes);
  }
  // From here on the mapping keeps it.
  DRIVER_FUNCTION(cuMemRelease)(memory);
  if (done) *address = reinterpret_cast<void*>(pointer);
  return done;
}

bool FreeMapped(void* address) {
  const auto pointer = reinterpret_cast<CUdeviceptr>(address);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  using Range = CUresult(CUdeviceptr*, size_t*, CUdeviceptr);
  if (Find<Range>("cuMemGetAddressRange")(&base, &bytes, pointer) != CUDA_SUCCESS || base != pointer) return false;
  return DRIVER_FUNCTION(cuMemUnmap)(pointer, bytes) == CUDA_SUCCESS &&
         DRIVER_FUNCTION(cuMemAddressFree)(pointer, bytes) == CUDA_SUCCESS;
}

constexpr ncclResult_t kUnhandledCudaError = 1, kInvalidArgument = 4;

// Makes `device` current until the end of the scope.
class OnDevice {
 public:
  explicit OnDevice(int device) {
    cudaGetDevice(&before_);
    cudaSetDevice(device);
  }
  ~OnDevice() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

void Destroy(ncclComm* comm) {
  OnDevice scope(comm->device);
  if (comm->event != nullptr) cudaEventDestroy(comm->event);
  if (comm->stream != nullptr) cudaStreamDestroy(comm->stream);
  if (comm->pinned != nullptr) cudaFreeHost(comm->pinned);
  if (comm->workspace != nullptr) cudaFree(comm->workspace);
  delete comm;
}

ncclResult_t Create(ncclComm_t* comm, int device, int ranks, int rank) {
  OnDevice scope(device);
  auto* created = new ncclComm;
  created->device = device;
  created->ranks = ranks;
  created->rank = rank;
  if (cudaMalloc(&created->workspace, kNcclWorkspaceBytes) != cudaSuccess ||
      cudaHostAlloc(&created->pinned, kNcclPinnedBytes, cudaHostAllocMapped) != cudaSuccess ||
      cudaStreamCreateWithFlags(&created->stream, cudaStreamNonBlocking) != cudaSuccess ||
      cudaEventCreateWithFlags(&created->event, cudaEventDisableTiming) != cudaSuccess) {
    Destroy(created);
    return kUnhandledCudaError;
  }
  *comm = created;
  return 0;
}

ncclResult_t CreateOnCurrent(ncclComm_t* comm, int ranks, int rank) {
  if (comm == nullptr || ranks < 1 || rank < 0 || rank >= ranks) return kInvalidArgument;
  int device = 0;
  if (cudaGetDevice(&device) != cudaSuccess) return kUnhandledCudaError;
  return Create(comm, device, ranks, rank);
}

ncclResult_t End(ncclComm_t comm) {
  if (comm == nullptr) return kInvalidArgument;
  Destroy(comm);
  return 0;
}

}  // namespace

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  if (id == nullptr) return kInvalidArgument;
  memset(id, 0, sizeof(*id));
  // Nobody meets by it, but programs tell communicators apart by their identifiers.
  static std::atomic<int> next{0};
  snprintf(id->internal, sizeof(id->internal), "simulated %d.%d", getpid(), next++);
  return 0;
}

ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId, int rank) {
  return CreateOnCurrent(comm, ranks, rank);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId, int rank, ncclConfig_t*) {
  return CreateOnCurrent(comm, ranks, rank);
}

ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int ranks, int rank, int ids, ncclUniqueId* id, ncclConfig_t*) {
  return ids < 1 || id == nullptr ? kInvalidArgument : CreateOnCurrent(comm, ranks, rank);
}

ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices) {
  if (comms == nullptr || count < 1) return kInvalidArgument;
  for (int index = 0; index < count; ++index) {
    const ncclResult_t result = Create(&comms[index], devices != nullptr ? devices[index] : index, count, index);
    if (result == 0) continue;
    while (index > 0) Destroy(comms[--index]);
    return result;
  }
  return 0;
}

ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int, ncclComm_t* split, ncclConfig_t*) {
  if (comm == nullptr || split == nullptr) return kInvalidArgument;
  if (color < 0) {
    *split = nullptr;
    return 0;
  }
  // Who else is in that group only the others know: as many as fit.
  return Create(split, comm->device, comm->ranks, comm->rank);
}

ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int count, ncclComm_t* shrunk, ncclConfig_t*, int) {
  if (comm == nullptr || shrunk == nullptr || excluded == nullptr || count < 1) return kInvalidArgument;
  int below = 0;
  for (int index = 0; index < count; ++index) below += excluded[index] < comm->rank ? 1 : 0;
  return Create(shrunk, comm->device, comm->ranks - count, comm->rank - below);
}

ncclResult_t ncclCommFinalize(ncclComm_t comm) { return comm == nullptr ? kInvalidArgument : 0; }
ncclResult_t ncclCommDestroy(ncclComm_t comm) { return End(comm); }
ncclResult_t ncclCommAbort(ncclComm_t comm) { return End(comm); }

ncclResult_t ncclCommCount(ncclComm_t comm, int* count) {
  if (comm == nullptr || count == nullptr) return kInvalidArgument;
  *count = comm->ranks;
  return 0;
}

ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank) {
  if (comm == nullptr || rank == nullptr) return kInvalidArgument;
  *rank = comm->rank;
  return 0;
}

ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device) {
  if (comm == nullptr || device == nullptr) return kInvalidArgument;
  *device = comm->device;
  return 0;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error) {
  if (comm == nullptr || error == nullptr) return kInvalidArgument;
  *error = 0;
  return 0;
}

ncclResult_t ncclCommMemStats(ncclComm_t comm, int, uint64_t* value) {
  if (comm == nullptr || value == nullptr) return kInvalidArgument;
  *value = kNcclWorkspaceBytes;
  return 0;
}

ncclResult_t ncclCommRegister(ncclComm_t comm, void* buffer, size_t, void** handle) {
  if (comm == nullptr || handle == nullptr) return kInvalidArgument;
  *handle = buffer;
  return 0;
}

ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, size_t, void** window, int) {
  return ncclCommRegister(comm, buffer, 0, window);
}

ncclResult_t ncclGetVersion(int* version) {
  if (version == nullptr) return kInvalidArgument;
  *version = kNcclVersion;
  return 0;
}

const char* ncclGetErrorString(ncclResult_t) { return "status of the simulated NCCL"; }
const char* ncclGetLastError(ncclComm_t) { return ""; }

ncclResult_t ncclMemAlloc(void** address, size_t bytes) {
  if (address == nullptr) return kInvalidArgument;
  return AllocateMapped(address, bytes) ? 0 : kUnhandledCudaError;
}

ncclResult_t ncclMemFree(void* address) {
  if (address == nullptr) return 0;
  return FreeMapped(address) ? 0 : kUnhandledCudaError;
}

}  // extern "C"

}  // namespace vramtrack::simcuda
