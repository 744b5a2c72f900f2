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

// A stream-ordered pool: takes chunks of 32 MiB or more from its device, cuts them by best fit, and gives wholly free
// chunks back when it is trimmed or synchronized while it holds more than its threshold. Thread safe.
class MemoryPool {
 public:
  struct Usage {
    uint64_t reserved = 0, reserved_high = 0, used = 0, used_high = 0, threshold = 0;
  };

  // `max_bytes` 0: no limit but the device's.
  MemoryPool(int device, DeviceMemory* memory, size_t max_bytes)
      : device_(device), memory_(memory), max_bytes_(max_bytes) {}
  // A pool of pinned or managed host memory: each allocation is one of its own, and nothing is kept for later.
  explicit MemoryPool(HostMemory::Kind kind) : device_(0), memory_(nullptr), max_bytes_(0), host_kind_(kind) {}
  ~MemoryPool();

  // nullptr when neither the pool nor its device has room.
  char* Allocate(size_t bytes);

  // False if nothing of this pool starts at `address`.
  bool Free(void* address);

  // The allocation that covers `address`.
  bool Find(const void* address, char** base, size_t* bytes);

  // Gives back free chunks as long as at least `keep_bytes` stay reserved.
  void TrimTo(uint64_t keep_bytes);

  // What a synchronization does: TrimTo(threshold).
  void Synchronized();

  // Gives back everything, used or not.
  void Clear();

  Usage usage();
  void set_threshold(uint64_t bytes);
  void ResetReservedHigh();
  void ResetUsedHigh();

  int device() const { return device_; }
  bool on_host() const { return memory_ == nullptr; }
  // Set by the driver when its creator destroys it; it goes away with its last allocation.
  bool destroyed = false;
  // It stands for a pool of another process: nothing can be allocated from it.
  bool imported = false;

  // Settings that are kept and answered but change nothing here.
  int reuse_follow_event = 1, reuse_opportunistic = 1, reuse_internal = 1;

  // What other devices may do with the pool's memory, as CUmemAccess_flags.
  void SetAccess(int device, int flags);
  int GetAccess(int device);

 private:
  static constexpr size_t kChunkBytes = size_t{32} << 20;

  struct Live {
    size_t bytes;  // as asked for
    size_t taken;  // rounded
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
  std::map<char*, size_t> free_;  // by address, merged inside a chunk
  std::set<std::pair<size_t, char*>> free_by_size_;
  std::map<char*, Live> live_;
  std::map<int, int> access_;
  Usage usage_;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_MEMORY_POOL_H_
