// SPDX-License-Identifier: Apache-2.0
//
// An allocator for torch.cuda.memory.CUDAPluggableAllocator whose memory can sleep, by the calls of vLLM's
// CuMemAllocator and torch_memory_saver: addresses are reserved once, and memory is unmapped and mapped there again.
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <map>

extern "C" {

struct Location {
  int type, id;
};
struct Properties {
  int type, handle_types;
  Location location;
  void* metadata;
  unsigned char flags[8];
};
struct Access {
  Location location;
  int flags;
};

int cudaFree(void* address);
int cuMemAddressReserve(uint64_t* address, size_t bytes, size_t alignment, uint64_t wanted, unsigned long long flags);
int cuMemAddressFree(uint64_t address, size_t bytes);
int cuMemCreate(unsigned long long* handle, size_t bytes, const Properties* properties, unsigned long long flags);
int cuMemRelease(unsigned long long handle);
int cuMemMap(uint64_t address, size_t bytes, size_t offset, unsigned long long handle, unsigned long long flags);
int cuMemUnmap(uint64_t address, size_t bytes);
int cuMemSetAccess(uint64_t address, size_t bytes, const Access* access, size_t count);

namespace {

constexpr size_t kGranularity = 2 << 20;
constexpr int kPinned = 1, kDevice = 1, kReadWrite = 3;

struct Piece {
  size_t bytes = 0;
  unsigned long long handle = 0;
  bool mapped = false;
};
std::map<uint64_t, Piece> pieces;

bool MakeAndMap(uint64_t address, Piece* piece) {
  const Properties properties = {kPinned, 0, {kDevice, 0}, nullptr, {}};
  const Access access = {{kDevice, 0}, kReadWrite};
  piece->mapped = cuMemCreate(&piece->handle, piece->bytes, &properties, 0) == 0 &&
                  cuMemMap(address, piece->bytes, 0, piece->handle, 0) == 0 &&
                  cuMemSetAccess(address, piece->bytes, &access, 1) == 0;
  return piece->mapped;
}

void UnmapAndRelease(uint64_t address, Piece* piece) {
  cuMemUnmap(address, piece->bytes);
  cuMemRelease(piece->handle);
  piece->mapped = false;
}

}  // namespace

// One thread uses these functions.
void* sleeping_allocate(ssize_t bytes, int /*device*/, void* /*stream*/) {
  cudaFree(nullptr);
  Piece piece;
  piece.bytes = (static_cast<size_t>(bytes) + kGranularity - 1) / kGranularity * kGranularity;
  uint64_t address = 0;
  if (cuMemAddressReserve(&address, piece.bytes, 0, 0, 0) != 0 || !MakeAndMap(address, &piece)) return nullptr;
  pieces[address] = piece;
  return reinterpret_cast<void*>(address);
}

void sleeping_free(void* address, ssize_t /*bytes*/, int /*device*/, void* /*stream*/) {
  const auto piece = pieces.find(reinterpret_cast<uint64_t>(address));
  if (piece == pieces.end()) return;
  if (piece->second.mapped) UnmapAndRelease(piece->first, &piece->second);
  cuMemAddressFree(piece->first, piece->second.bytes);
  pieces.erase(piece);
}

void sleeping_sleep() {
  for (auto& [address, piece] : pieces) UnmapAndRelease(address, &piece);
}

// The error of releasing memory that a sleep has released already.
int sleeping_release_again() { return cuMemRelease(pieces.begin()->second.handle); }

int sleeping_wake() {
  for (auto& [address, piece] : pieces) {
    if (!MakeAndMap(address, &piece)) return 0;
  }
  return 1;
}
}
