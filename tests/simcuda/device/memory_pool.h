// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_MEMORY_POOL_H_
#define TESTS_SIMCUDA_DEVICE_MEMORY_POOL_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "tests/simcuda/device/device_memory.h"
#include "tests/simcuda/device/host_memory.h"

namespace vramtrack::simcuda {

// A stream-ordered pool. It takes chunks of 32 MiB or more from its device and divides them by best fit. It releases
// free chunks when it is trimmed, or at a synchronization if it holds more than its threshold. Thread-safe.
class MemoryPool {
 public:
  struct Usage {
    uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0, threshold = 0;
  };

  // `max_bytes` limits the pool; 0 means that only the device's memory limits it.
  MemoryPool(int device, DeviceMemory* memory, size_t max_bytes)
      : device_(device), memory_(memory), max_bytes_(max_bytes) {}
  // Creates a pool of pinned or managed host memory. Each allocation is separate, and freed memory is not kept.
  explicit MemoryPool(HostMemory::Kind kind) : device_(0), memory_(nullptr), max_bytes_(0), host_kind_(kind) {}
  ~MemoryPool();

  // Returns nullptr if neither the pool nor its device has enough free memory.
  char* Allocate(size_t bytes);

  // Returns false if no allocation of this pool starts at `address`.
  bool Free(void* address);

  // Finds the allocation that contains `address`. Returns false if there is none.
  bool Find(const void* address, char** base, size_t* bytes);

  // Releases free chunks while at least `keep_bytes` stay reserved.
  void TrimTo(uint64_t keep_bytes);

  // Trims the pool to its threshold, as a synchronization does.
  void Synchronized();

  // Releases all memory, used or not.
  void Clear();

  Usage usage();
  void set_threshold(uint64_t bytes);
  void ResetReservedHigh();
  void ResetUsedHigh();

  int device() const { return device_; }
  bool on_host() const { return memory_ == nullptr; }
  // The driver sets this when the creator destroys the pool; the pool is deleted with its last allocation.
  bool destroyed = false;
  // True if this represents a pool of another process, from which nothing can be allocated.
  bool imported = false;

  // Settings that can be set and queried but have no effect.
  int reuse_follow_event = 1, reuse_opportunistic = 1, reuse_internal = 1;

  // Set and return how other devices may access the pool's memory (CUmemAccess_flags).
  void SetAccess(int device, int flags);
  int GetAccess(int device);

 private:
  static constexpr size_t kChunkBytes = size_t{32} << 20;

  struct Live {
    size_t bytes;  // requested bytes
    size_t taken;  // rounded bytes
  };

  char* AllocateOnHost(size_t bytes);
  char* Cut(size_t taken);
  bool Grow(size_t taken);
  void AddFree(char* base, size_t bytes);
  void RemoveFree(std::map<char*, size_t>::iterator range);
  void TrimLocked(uint64_t keep_bytes);

  const int device_;
  DeviceMemory* const memory_;
  const size_t max_bytes_;
  const HostMemory::Kind host_kind_ = HostMemory::Kind::kPinned;
  std::mutex mutex_;
  std::map<char*, size_t> chunks_;
  std::map<char*, size_t> free_;  // ordered by address; neighbours in a chunk are merged
  std::set<std::pair<size_t, char*>> free_by_size_;
  std::map<char*, Live> live_;
  std::map<int, int> access_;
  Usage usage_;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_MEMORY_POOL_H_
