// SPDX-License-Identifier: Apache-2.0
// Collective operations as if every rank had sent what this one sends. They wait for nobody, so a rank sees its own
// data wherever another one's would be, and a sum is its own summand.
#include <cuda_runtime_api.h>

#include <vector>

#include "tests/simcuda/libraries/nccl.h"

namespace {

// int8, uint8, int32, uint32, int64, uint64, half, float, double, bfloat16, and two floats of 8 bits.
constexpr size_t kElementBytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

ncclResult_t Copy(const void* from, void* to, size_t count, int type, cudaStream_t stream) {
  if (type < 0 || type >= static_cast<int>(sizeof(kElementBytes) / sizeof(*kElementBytes))) return 4;
  if (from == to || from == nullptr || to == nullptr || count == 0) return 0;
  return cudaMemcpyAsync(to, from, count * kElementBytes[type], cudaMemcpyDefault, stream) == cudaSuccess ? 0 : 1;
}

// Between ncclGroupStart and its end: broadcasts, of which one from each rank makes an all-gather.
struct Broadcast {
  const void* from;
  void* to;
  size_t count;
  int type, root;
  ncclComm_t comm;
  cudaStream_t stream;
};
struct Group {
  int depth = 0;
  std::vector<Broadcast> broadcasts;
};
thread_local Group group;

bool IsFromHere(const Broadcast& broadcast) {
  int rank = 0;
  return ncclCommUserRank(broadcast.comm, &rank) == 0 && broadcast.root == rank;
}

// What the others broadcast in the same group is taken to be what this rank does.
ncclResult_t RunBroadcasts(const std::vector<Broadcast>& broadcasts) {
  ncclResult_t result = 0;
  for (const Broadcast& broadcast : broadcasts) {
    const Broadcast* source = &broadcast;
    for (const Broadcast& other : broadcasts) {
      const bool alike = other.comm == broadcast.comm && other.count == broadcast.count && other.type == broadcast.type;
      if (alike && !IsFromHere(broadcast) && IsFromHere(other)) source = &other;
    }
    if (result == 0) result = Copy(source->from, broadcast.to, broadcast.count, broadcast.type, broadcast.stream);
  }
  return result;
}

// Copies the same to the place of every rank.
ncclResult_t CopyToAll(const void* from, void* to, size_t count, int type, ncclComm_t comm, cudaStream_t stream) {
  int ranks = 0;
  ncclResult_t result = ncclCommCount(comm, &ranks);
  for (int rank = 0; rank < ranks && result == 0; ++rank) {
    const size_t offset = static_cast<size_t>(rank) * count * kElementBytes[type];
    result = Copy(from, static_cast<char*>(to) + offset, count, type, stream);
  }
  return result;
}

}  // namespace

extern "C" {

ncclResult_t ncclAllReduce(const void* from, void* to, size_t count, int type, int, ncclComm_t, cudaStream_t stream) {
  return Copy(from, to, count, type, stream);
}

ncclResult_t ncclReduce(const void* from, void* to, size_t count, int type, int, int, ncclComm_t, cudaStream_t stream) {
  return Copy(from, to, count, type, stream);
}

ncclResult_t ncclGroupStart() {
  ++group.depth;
  return 0;
}

ncclResult_t ncclGroupEnd() {
  if (group.depth == 0) return 5;  // ncclInvalidUsage
  if (--group.depth != 0) return 0;
  const std::vector<Broadcast> broadcasts = std::move(group.broadcasts);
  group.broadcasts.clear();
  return RunBroadcasts(broadcasts);
}

ncclResult_t ncclBroadcast(const void* from, void* to, size_t count, int type, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  const Broadcast broadcast = {from, to, count, type, root, comm, stream};
  if (group.depth == 0) return RunBroadcasts({broadcast});
  group.broadcasts.push_back(broadcast);
  return 0;
}

ncclResult_t ncclBcast(void* buffer, size_t count, int type, int root, ncclComm_t comm, cudaStream_t stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAllGather(const void* from, void* to, size_t count, int type, ncclComm_t comm, cudaStream_t stream) {
  return CopyToAll(from, to, count, type, comm, stream);
}

ncclResult_t ncclReduceScatter(const void* from, void* to, size_t count, int type, int, ncclComm_t comm,
                               cudaStream_t stream) {
  int rank = 0;
  const ncclResult_t result = ncclCommUserRank(comm, &rank);
  if (result != 0 || type < 0 || type >= static_cast<int>(sizeof(kElementBytes) / sizeof(*kElementBytes))) return 4;
  const size_t offset = static_cast<size_t>(rank) * count * kElementBytes[type];
  return Copy(static_cast<const char*>(from) + offset, to, count, type, stream);
}

ncclResult_t ncclAlltoAll(const void* from, void* to, size_t count, int type, ncclComm_t comm, cudaStream_t stream) {
  return CopyToAll(from, to, count, type, comm, stream);
}

}  // extern "C"
