// SPDX-License-Identifier: Apache-2.0
//
// What a framework's own allocator does, as events. Each framework has a file that hooks its allocator's functions and
// calls these. The allocator may hold its lock meanwhile, so nothing here waits for a thread that could need that lock,
// takes the GIL or calls CUDA.
#ifndef INTERPOSE_FRAMEWORKS_ALLOCATOR_H_
#define INTERPOSE_FRAMEWORKS_ALLOCATOR_H_

#include <cstddef>
#include <cstdint>

#include "interpose/hooks/table/call.h"

namespace vramtrack {

// The memory of a framework on the host is recorded as that of this device, if it is requested.
constexpr int kHostAsDevice = 63;

// Records that the allocator could not give out `bytes`.
inline void BlockFailed(Call* call, uint64_t bytes, int device) {
  call->CaptureStack();
  call->Failed(schema::FRAMEWORK_BLOCK, cuda::kMemoryAllocation, bytes, device);
}

// The allocators of frameworks that have several: which memory each of them manages. An allocator is identified by its
// address.
class Allocators {
 public:
  static constexpr int kUnknown = -3, kNotRecorded = -4;
  static constexpr size_t kNameBytes = 64;

  // Returns the device of an allocator, kNotRecorded, or kUnknown before Learn. Thread- and signal-safe.
  static int DeviceOf(const void* allocator);

  // Notes the device of an allocator, or kNotRecorded. `by_handle`: the addresses of its blocks are those of the
  // framework's objects. After 64 allocators, further ones stay unknown. Thread-safe.
  static void Learn(const void* allocator, const char* framework, const char* name, int device, bool by_handle = false);

  // Forgets an allocator that ends. Thread-safe.
  static void Forget(const void* allocator);

  // Defines the allocator in the trace, if that has not been done.
  static void Define(const void* allocator, Call* call);
};

// Returns whether the memory of frameworks on the host is to be recorded (VRAMTRACK_CPU_FRAMEWORKS=1), as that of the
// device kHostAsDevice.
bool RecordsHostMemory();

// Records in the trace which of PyTorch's loaded allocator libraries do not report their blocks through a hooked
// function. These are most likely newer versions. Call it after libraries were loaded. Thread-safe; takes the loader's
// lock on its list of objects briefly.
void NoteUnknownTorchAllocators();

}  // namespace vramtrack

#endif  // INTERPOSE_FRAMEWORKS_ALLOCATOR_H_
