// SPDX-License-Identifier: Apache-2.0
#ifndef TESTS_SIMCUDA_DEVICE_DEVICE_H_
#define TESTS_SIMCUDA_DEVICE_DEVICE_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tests/simcuda/device/device_memory.h"
#include "tests/simcuda/device/memory_pool.h"
#include "tests/simcuda/device/stream.h"

namespace vramtrack::simcuda {

struct Device;

// A context of a simulated device.
struct Context {
  Context(Device* device, unsigned flags, uint64_t id);

  Device* const device;
  std::atomic<unsigned> flags;
  const uint64_t id;
  // The streams of the special handles 0, 1 (legacy) and 2 (per-thread).
  Stream legacy_stream;
  Stream per_thread_stream;
  std::atomic<uint64_t> limits[16] = {};
  std::atomic<int> cache_config{0};
  std::atomic<int> shared_config{0};
  char* memory = nullptr;  // the memory of SIMCUDA_CONTEXT_MEMORY
  void* green = nullptr;   // green context to which it belongs, or null
  std::atomic<bool> destroyed{false};
  std::atomic<int> attached{0};  // references from cuCtxAttach, in addition to the creator's
};

// One simulated GPU. Thread-safe.
struct Device {
  explicit Device(int ordinal);

  // Returns the primary context with one more reference. The first call creates it.
  Context* RetainPrimary();
  // Drops a reference. Returns false if there is none.
  bool ReleasePrimary();
  bool primary_active();
  // Destroys the primary context, and frees the device memory, pools and pinned memory of this device.
  void ResetPrimary();

  MemoryPool* default_pool() { return &default_pool_; }
  MemoryPool* current_pool() { return current_pool_.load(); }
  void set_current_pool(MemoryPool* pool) { current_pool_ = pool; }
  void AddPool(MemoryPool* pool);
  void RemovePool(MemoryPool* pool);

  // Waits for every event recorded on the device, then calls TrimPools.
  void Synchronize();
  // Lets the device's pools release free memory.
  void TrimPools();

  const int ordinal;
  DeviceMemory memory;
  std::atomic<int64_t> busy_until_ns{0};
  std::atomic<unsigned> primary_flags{0};
  std::atomic<uint64_t> peers{0};  // one bit for each device whose memory this one may access

  // The values of cuDeviceGetGraphMemAttribute, in bytes.
  std::atomic<uint64_t> graph_used{0}, graph_used_high{0}, graph_reserved{0}, graph_reserved_high{0};

 private:
  void ReleaseContextMemory();

  std::mutex mutex_;
  Context* primary_ = nullptr;  // never freed, because programs keep the handle
  bool active_ = false;
  unsigned retained_ = 0;
  MemoryPool default_pool_;
  std::atomic<MemoryPool*> current_pool_;
  std::set<MemoryPool*> pools_;  // without the default pool
};

// Returns the number of devices. As with the real driver, it is 0 in a child of a process that had used a device.
int DeviceCount();

// Returns the device; creates it at the first use. `ordinal` must be less than DeviceCount().
Device& GetDevice(int ordinal);

// Returns the device whose linear memory contains `address`, or nullptr.
Device* DeviceOf(const void* address);

// Returns true in a process that was forked after the devices were used. No CUDA call works there.
bool IsForkedChild();

// Returns a new number for a context or stream.
uint64_t NextId();

// What the driver knows about an address.
struct PointerInfo {
  enum class Kind { kUnknown, kDevice, kPinned, kRegistered, kManaged };
  Kind kind = Kind::kUnknown;
  int device = -1;
  char* base = nullptr;
  size_t bytes = 0;
  unsigned flags = 0;          // flags of host memory
  MemoryPool* pool = nullptr;  // pool that it was allocated from, or null
  bool mapped = false;         // mapped with cuMemMap
};
PointerInfo Describe(const void* address);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_DEVICE_H_
