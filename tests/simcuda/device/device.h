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

struct Context {
  Context(Device* device, unsigned flags, uint64_t id);

  Device* const device;
  std::atomic<unsigned> flags;
  const uint64_t id;
  // What the special handles 0, 1 and 2 stand for.
  Stream legacy_stream;
  Stream per_thread_stream;
  std::atomic<uint64_t> limits[16] = {};
  std::atomic<int> cache_config{0};
  std::atomic<int> shared_config{0};
  char* memory = nullptr;  // SIMCUDA_CONTEXT_MEMORY
  void* green = nullptr;   // the green context that it belongs to
  std::atomic<bool> destroyed{false};
  std::atomic<int> attached{0};  // by cuCtxAttach, besides its creator
};

// One simulated GPU. Thread safe.
struct Device {
  explicit Device(int ordinal);

  // The primary context, made when it is first asked for.
  Context* RetainPrimary();
  // False when it was not retained.
  bool ReleasePrimary();
  bool primary_active();
  // Ends the primary context: device memory, pools and pinned memory of this device are free afterwards.
  void ResetPrimary();

  MemoryPool* default_pool() { return &default_pool_; }
  MemoryPool* current_pool() { return current_pool_.load(); }
  void set_current_pool(MemoryPool* pool) { current_pool_ = pool; }
  void AddPool(MemoryPool* pool);
  void RemovePool(MemoryPool* pool);

  // Waits for every event recorded on the device, then lets its pools give memory back.
  void Synchronize();
  // The second half of that alone.
  void TrimPools();

  const int ordinal;
  DeviceMemory memory;
  std::atomic<int64_t> busy_until_ns{0};
  std::atomic<unsigned> primary_flags{0};
  std::atomic<uint64_t> peers{0};  // a bit for each device whose memory this one may use

  // Memory of graphs, by cuDeviceGetGraphMemAttribute.
  std::atomic<uint64_t> graph_used{0}, graph_used_high{0}, graph_reserved{0}, graph_reserved_high{0};

 private:
  void ReleaseContextMemory();

  std::mutex mutex_;
  Context* primary_ = nullptr;  // kept for ever once made: programs hold on to the handle
  bool active_ = false;
  unsigned retained_ = 0;
  MemoryPool default_pool_;
  std::atomic<MemoryPool*> current_pool_;
  std::set<MemoryPool*> pools_;  // besides the default one
};

// How many devices there are; none in a child of a process that had used one (as with the real driver).
int DeviceCount();

// `ordinal` must be one of them. Made at first use.
Device& GetDevice(int ordinal);

// The device whose linear memory holds `address`, or nullptr.
Device* DeviceOf(const void* address);

// True in a process that was forked after the devices were used: nothing works there.
bool IsForkedChild();

// A number that no context or stream had before.
uint64_t NextId();

// What the driver knows of an address.
struct PointerInfo {
  enum class Kind { kUnknown, kDevice, kPinned, kRegistered, kManaged };
  Kind kind = Kind::kUnknown;
  int device = -1;
  char* base = nullptr;
  size_t bytes = 0;
  unsigned flags = 0;          // of host memory
  MemoryPool* pool = nullptr;  // it came from
  bool mapped = false;         // by cuMemMap
};
PointerInfo Describe(const void* address);

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DEVICE_DEVICE_H_
