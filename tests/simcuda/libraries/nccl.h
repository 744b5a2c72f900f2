// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_LIBRARIES_NCCL_H_
#define TESTS_SIMCUDA_LIBRARIES_NCCL_H_

// The simulated part of NCCL: communicators, memory, and collective operations in which all ranks are assumed to send
// the same values. No rank waits for another.
#include <cstddef>
#include <cstdint>

extern "C" {

struct ncclComm;
typedef ncclComm* ncclComm_t;
struct ncclUniqueId {
  char internal[128];
};
struct ncclConfig_t;
// Values: 0 success, 1 an error of CUDA, 4 invalid argument.
typedef int ncclResult_t;

ncclResult_t ncclGetUniqueId(ncclUniqueId* id);
ncclResult_t ncclCommInitRank(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank);
ncclResult_t ncclCommInitRankConfig(ncclComm_t* comm, int ranks, ncclUniqueId id, int rank, ncclConfig_t* config);
ncclResult_t ncclCommInitRankScalable(ncclComm_t* comm, int ranks, int rank, int ids, ncclUniqueId* id,
                                      ncclConfig_t* config);
// Creates a communicator for each of `devices`, or for the first `count` devices if `devices` is null.
ncclResult_t ncclCommInitAll(ncclComm_t* comms, int count, const int* devices);
// Creates no communicator for a negative color.
ncclResult_t ncclCommSplit(ncclComm_t comm, int color, int key, ncclComm_t* split, ncclConfig_t* config);
ncclResult_t ncclCommShrink(ncclComm_t comm, int* excluded, int count, ncclComm_t* shrunk, ncclConfig_t* config,
                            int flags);
ncclResult_t ncclCommFinalize(ncclComm_t comm);
ncclResult_t ncclCommDestroy(ncclComm_t comm);
ncclResult_t ncclCommAbort(ncclComm_t comm);
ncclResult_t ncclCommCount(ncclComm_t comm, int* count);
ncclResult_t ncclCommUserRank(ncclComm_t comm, int* rank);
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int* device);
ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* error);
ncclResult_t ncclCommMemStats(ncclComm_t comm, int statistic, uint64_t* value);
ncclResult_t ncclCommRegister(ncclComm_t comm, void* buffer, size_t bytes, void** handle);
ncclResult_t ncclCommWindowRegister(ncclComm_t comm, void* buffer, size_t bytes, void** window, int flags);
ncclResult_t ncclGetVersion(int* version);
const char* ncclGetErrorString(ncclResult_t result);
const char* ncclGetLastError(ncclComm_t comm);
ncclResult_t ncclMemAlloc(void** address, size_t bytes);
ncclResult_t ncclMemFree(void* address);
}

namespace vramtrack::simcuda {

// The device memory of a communicator, which also has a stream, an event and pinned memory.
constexpr size_t kNcclWorkspaceBytes = size_t{6} << 20;
constexpr int kNcclVersion = 23007;
constexpr size_t kNcclPinnedBytes = size_t{64} << 10;

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_LIBRARIES_NCCL_H_
