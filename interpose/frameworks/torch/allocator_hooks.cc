// SPDX-License-Identifier: Apache-2.0
//
// Hooks the functions through which the caching allocator reports its blocks and out-of-memory errors to PyTorch's
// profiler. It calls them even without a profiler. The allocator holds its lock during the call, so these hooks must
// not wait for a thread that could need the lock: they take no GIL and call no CUDA function.
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/base/spin_lock.h"
#include "interpose/frameworks/allocator.h"
#include "interpose/hooks/table/call.h"
#include "interpose/hooks/table/cuda_abi.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/hooks/table/unseen.h"
#include "interpose/loader/loaded_object.h"

namespace vramtrack {

// The types of PyTorch that hooks pass through.
namespace torch {

// c10::Device: two bytes, passed in a register, of which the rest is undefined.
struct Device {
  int8_t type;   // c10::DeviceType
  int8_t index;  // -1: the current one
};

constexpr int8_t kCuda = 1;  // of ROCm's devices as well, as PyTorch sees them

}  // namespace torch

namespace {

void TellReserved(Call* call, torch::Device device, uint64_t given_out, uint64_t reserved) {
  if (!call->session()->NoteReserved(static_cast<uint8_t>(device.index), reserved)) return;
  call->FrameworkMemory(given_out, reserved, device.index);
}

__attribute__((noinline)) void NoteBlock(const void* block, int64_t bytes, uint64_t given_out, uint64_t reserved,
                                         torch::Device device) {
  Session* const now = Session::Now();
  if (__builtin_expect(now == nullptr, 0) && Session::PassesOn()) return;
  Call call(kBlocks, now);
  if (!call.active()) return;
  const auto address = reinterpret_cast<uint64_t>(block);
  if (bytes > 0) {
    call.BlockAllocated(address, static_cast<uint64_t>(bytes), device.index);
  } else {
    call.BlockFreed(address, device.index);
  }
  TellReserved(&call, device, given_out, reserved);
  Holders& holders = call.session()->holders();
  if (__builtin_expect(holders.on(), 0)) holders.NoteMemory(static_cast<uint8_t>(device.index), given_out);
}

void NoteOutOfMemory(uint64_t bytes, uint64_t given_out, uint64_t reserved, torch::Device device) {
  Call call(kBlocks);
  if (!call.active()) return;
  call.FrameworkMemory(given_out, reserved, device.index);
  BlockFailed(&call, bytes, device.index);
  if (call.session()->holders().on()) call.session()->holders().NoteOutOfMemory();
}

}  // namespace

// Other devices' allocators report here as well, the one for the host's memory most of all.

#define VRAMTRACK_REPORTS_BLOCK(entry, parameters, arguments, given_out, reserved) \
  VRAMTRACK_EXPORT void entry parameters {                                         \
    if (device.type == torch::kCuda) {                                             \
      NoteBlock(block, bytes, given_out, reserved, device);                        \
    }                                                                              \
    VRAMTRACK_PASS_ON(entry, parameters, arguments)                                \
  }
#define VRAMTRACK_REPORTS_OUT_OF_MEMORY(entry, parameters, arguments)                                                  \
  VRAMTRACK_EXPORT void entry parameters {                                                                             \
    if (device.type == torch::kCuda) {                                                                                 \
      NoteOutOfMemory(static_cast<uint64_t>(bytes), static_cast<uint64_t>(given_out), static_cast<uint64_t>(reserved), \
                      device);                                                                                         \
    }                                                                                                                  \
    VRAMTRACK_PASS_ON(entry, parameters, arguments)                                                                    \
  }
#define VRAMTRACK_REGISTERS_ALLOCATOR(entry, parameters, arguments)  // see pinned_pool.cc
#define VRAMTRACK_BEGINS_RECORD(entry, parameters, arguments)        // see graph_hooks.cc
#define VRAMTRACK_FOLLOWS_GRAPH(entry, parameters)                   // see graph_hooks.cc
#include "interpose/hooks/table/torch_api.inc"

namespace {

constexpr char kReport[] = "_ZN3c1027reportMemoryUsageToProfilerE";  // before its parameters

// Where the caching allocator is, as every wheel names it; repackaged ones append a hash.
bool HasCachingAllocator(const LoadedObject& object) { return strncmp(object.name(), "libc10_cuda", 11) == 0; }

bool ReportsKnownBlocks(const LoadedObject& object) {
  bool known = false;
  object.EachImport([&](const char* name, void**) {
    known = known || (strncmp(name, kReport, sizeof kReport - 1) == 0 && EntryNamed(name) != Entry::kCount);
  });
  return known;
}

}  // namespace

void NoteUnknownTorchAllocators() {
  // Noting may record, which is not to be done under the loader's lock.
  constexpr size_t kMax = 4;
  const char* names[kMax];
  size_t count = 0;
  // One thread at a time remembers which libraries it has seen; another one looks at all.
  static SpinLock lock;
  static VisitedObjects visited;
  VisitedObjects none = {};
  const bool alone = lock.TryLock();
  EachNewObject(alone ? &visited : &none, [&](const LoadedObject& object) {
    if (count < kMax && HasCachingAllocator(object) && !ReportsKnownBlocks(object)) names[count++] = object.name();
  });
  if (alone) lock.Unlock();
  for (size_t i = 0; i < count; ++i) NoteUnseen(names[i], schema::UNSEEN_BLOCKS);
}

}  // namespace vramtrack
