// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_HOST_MEMORY_H_
#define TESTS_SIMCUDA_DEVICE_HOST_MEMORY_H_

#include <cstddef>
#include <map>
#include <mutex>

namespace vramtrack::simcuda {

class MemoryPool;

// The host memory that the driver knows: pinned, registered and managed. Thread-safe.
class HostMemory {
 public:
  enum class Kind { kPinned, kRegistered, kManaged };
  struct Range {
    char* base = nullptr;
    size_t bytes = 0;
    Kind kind = Kind::kPinned;
    unsigned flags = 0;          // flags of the caller
    int device = 0;              // current device at the allocation
    MemoryPool* pool = nullptr;  // pool that it was allocated from, or null
  };
  enum class RegisterResult { kRegistered, kOverlaps };

  // Allocates memory that is aligned to pages and takes no host memory until the program writes to it. Returns nullptr
  // if the host has not enough memory.
  void* Allocate(size_t bytes, Kind kind, unsigned flags, int device, MemoryPool* pool = nullptr);

  // Returns false if no allocation of this kind starts at `address`.
  bool Free(void* address, Kind kind);

  RegisterResult Register(void* address, size_t bytes, unsigned flags, int device);
  bool Unregister(void* address);

  bool Find(const void* address, Range* range);

  // Frees all memory that was allocated while `device` was current.
  void FreeAllOf(int device);

  static HostMemory& Get();

 private:
  std::mutex mutex_;
  std::map<char*, Range> ranges_;
};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_HOST_MEMORY_H_
