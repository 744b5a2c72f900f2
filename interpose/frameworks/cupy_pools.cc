// SPDX-License-Identifier: Apache-2.0
//
// Records the blocks of CuPy's memory pools. CuPy calls the memory hooks that a program has installed, with the GIL
// held. vramtrack.trace_cupy() installs these functions as one (python/vramtrack/_cupy.py): they are functions of
// Python's C API that take keywords, because ctypes would need longer for a call than CuPy for a block.
//
// A hook of CuPy's is one of a thread. A block that is freed in another thread ends when its address is given out
// again.
#include <atomic>
#include <cstdint>

#include "interpose/frameworks/allocator.h"
#include "interpose/hooks/table/call.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/session/session.h"

namespace vramtrack {
namespace {

struct DevicePool {
  // Its memory is not CUDA's own, but another allocator's, whose blocks are seen there.
  std::atomic<bool> has_other_memory;
};
DevicePool pools[kHostAsDevice];

// What these functions need of Python.
struct Python {
  void* (*dict_get)(void* dict, const char* key);  // borrowed
  unsigned long long (*int_value)(void* object);   // ~0 with an error if it is not a number
  void (*clear_error)();
  void (*retain)(void* object);
};
Python python;

// What CuPy passes, as far as it is needed.
struct Arguments {
  int device;
  uint64_t bytes, address;
  DevicePool* pool;
};

// Returns a number among the arguments, or kAbsent.
constexpr uint64_t kAbsent = ~uint64_t{0};
uint64_t NumberOf(void* arguments, const char* name) {
  void* const value = arguments == nullptr ? nullptr : python.dict_get(arguments, name);
  if (value == nullptr) return kAbsent;
  const uint64_t number = python.int_value(value);
  if (number == kAbsent) python.clear_error();
  return number;
}

// Returns false if something is missing, without recording, and for memory without an address.
bool Read(void* keywords, Arguments* read) {
  if (Session::Running() == nullptr) return false;
  const uint64_t device = NumberOf(keywords, "device_id");
  read->bytes = NumberOf(keywords, "mem_size");
  read->address = NumberOf(keywords, "mem_ptr");
  if (device >= kHostAsDevice || read->bytes == kAbsent || read->address == kAbsent || read->address == 0) return false;
  read->device = static_cast<int>(device);
  read->pool = &pools[device];
  return true;
}

void Define(const Arguments& block, Call* call) {
  if (Allocators::DeviceOf(block.pool) == Allocators::kUnknown) {
    Allocators::Learn(block.pool, "CuPy", "memory pool", block.device);
  }
  Allocators::Define(block.pool, call);
}

// A callback of Python's returns a new reference, here to the object that it is bound to: None.
void* None(void* self) {
  python.retain(self);
  return self;
}

}  // namespace
}  // namespace vramtrack

// Sets PyDict_GetItemString, PyLong_AsUnsignedLongLongMask, PyErr_Clear and Py_IncRef. To be called before the hooks
// are.
VRAMTRACK_EXPORT void vramtrack_cupy_begin(const void* dict_get, const void* int_value, const void* clear_error,
                                           const void* retain) {
  using vramtrack::python;
  python.dict_get = reinterpret_cast<decltype(python.dict_get)>(dict_get);
  python.int_value = reinterpret_cast<decltype(python.int_value)>(int_value);
  python.clear_error = reinterpret_cast<decltype(python.clear_error)>(clear_error);
  python.retain = reinterpret_cast<decltype(python.retain)>(retain);
}

// alloc_postprocess: a pool took memory from its own source.
VRAMTRACK_EXPORT void* vramtrack_cupy_grown(void* none, void*, void* keywords) {
  using namespace vramtrack;  // NOLINT
  Arguments piece;
  if (Read(keywords, &piece)) {
    Call call(kBlocks);
    if (call.active() && (!call.IsAllocated(schema::DEVICE, piece.address) ||
                          call.IsAllocated(schema::FRAMEWORK_BLOCK, piece.address))) {
      piece.pool->has_other_memory.store(true, std::memory_order_relaxed);
    }
  }
  return None(none);
}

// malloc_postprocess: a pool gave out a block. If it failed there is no address; what CUDA refused has been recorded.
VRAMTRACK_EXPORT void* vramtrack_cupy_allocated(void* none, void*, void* keywords) {
  using namespace vramtrack;  // NOLINT
  Arguments block;
  if (Read(keywords, &block) && !block.pool->has_other_memory.load(std::memory_order_relaxed)) {
    Call call(kBlocks);
    if (call.active()) {
      Define(block, &call);
      if (call.IsAllocated(schema::FRAMEWORK_BLOCK, block.address)) call.BlockFreed(block.address, block.device);
      call.BlockAllocated(block.address, block.bytes, block.device);
    }
  }
  return None(none);
}

// free_preprocess: a block is about to go back to its pool.
VRAMTRACK_EXPORT void* vramtrack_cupy_freeing(void* none, void*, void* keywords) {
  using namespace vramtrack;  // NOLINT
  Arguments block;
  if (Read(keywords, &block)) {
    Call call(kBlocks);
    if (call.active() && call.IsAllocated(schema::FRAMEWORK_BLOCK, block.address)) {
      call.BlockFreed(block.address, block.device);
    }
  }
  return None(none);
}
