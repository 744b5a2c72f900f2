// SPDX-License-Identifier: Apache-2.0
//
// The events that the driver reports to the simulated CUPTI. As with the real driver, CUPTI registers through a private
// table (cuGetExportTable).
#ifndef TESTS_SIMCUDA_DRIVER_ACTIVITY_H_
#define TESTS_SIMCUDA_DRIVER_ACTIVITY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace vramtrack::simcuda {

// The kinds of memory, with CUPTI's numbers.
enum class ActivityMemoryKind : uint32_t { kPinned = 2, kDevice = 3, kArray = 4, kManaged = 5 };

// The functions that the driver calls. It calls them on the thread of the reported call and before that call returns:
// after an allocation, and before a release.
struct ActivitySink {
  void (*allocated)(ActivityMemoryKind kind, const void* address, uint64_t bytes, int device);
  void (*allocated_on)(const void* address, uint64_t bytes, int device, uint64_t stream, const void* pool);
  void (*released)(const void* address);
  void (*pool)(uint32_t operation, const void* pool, int device, uint64_t bytes);  // created 1, destroyed 2, trimmed 3
  void (*kernel)(const char* name, int device, uint64_t stream);
  void (*copied)(uint64_t bytes, int device, uint64_t stream);
  void (*filled)(uint64_t bytes, int device, uint64_t stream);
};

extern std::atomic<const ActivitySink*> activity_sink;

// Calls a function of the sink if a sink is set.
#define SIMCUDA_TELL(function, ...)                                                        \
  do {                                                                                     \
    const ActivitySink* simcuda_sink = activity_sink.load(std::memory_order_acquire);      \
    if (__builtin_expect(simcuda_sink != nullptr, 0)) simcuda_sink->function(__VA_ARGS__); \
  } while (0)

// The private table. Memory that is allocated through it bypasses every hook.
struct PrivateTable {
  size_t size;
  bool (*set_sink)(const ActivitySink* sink);     // false if another CUPTI of the process has set one
  int (*allocate)(void** address, size_t bytes);  // on the current device; a CUresult
  int (*release)(void* address);
};

constexpr unsigned char kPrivateTableId[16] = {'s', 'i', 'm', 'c', 'u', 'd', 'a', '-',
                                               'a', 'c', 't', 'i', 'v', 'i', 't', 'y'};

}  // namespace vramtrack::simcuda

#endif  // TESTS_SIMCUDA_DRIVER_ACTIVITY_H_
