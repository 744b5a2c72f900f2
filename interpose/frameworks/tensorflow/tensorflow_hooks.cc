// SPDX-License-Identifier: Apache-2.0
//
// Records each call of a tf.function as a range, from which steps are found: Keras calls one for each batch, and so do
// most loops. Its operations run in other threads, which have no Python frames.
//
// Hooks TensorFlow's BFCAllocator. A process has several: one for each GPU, one for pinned memory of the host, and with
// TF_CPU_ALLOCATOR_USE_BFC=1 one for the host's ordinary memory. The name tells which: "GPU_0_bfc", "gpu_host_bfc",
// "cpu", ...
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "interpose/base/concurrent_table.h"
#include "interpose/frameworks/allocator.h"
#include "interpose/hooks/table/real_entry.h"
#include "interpose/hooks/table/unseen.h"
#include "interpose/loader/loaded_object.h"
#include "interpose/session/mark_names.h"

namespace vramtrack {
namespace {

constexpr char kFramework[] = "TensorFlow";

// std::string of libstdc++ since GCC 5, which a function returns in memory of its caller.
struct String {
  char* text;
  size_t length;
  char own[16];  // the text, if it is short
};

void* FindExport(const char* name) {
  void* found = nullptr;
  EachLoadedObject([&](const LoadedObject& object) {
    found = IsOwnObject(object) ? nullptr : object.Find(name);
    return found == nullptr;
  });
  return found;
}

// Writes the allocator's name. BFCAllocator::Name() returns a member, so it needs no lock.
bool NameOf(void* allocator, const LoadedObject& library, char* name, size_t capacity) {
  void* const function = library.Find("_ZN3tsl12BFCAllocator4NameB5cxx11Ev");
  if (function == nullptr) return false;
  String string = {};
  reinterpret_cast<void (*)(String*, void*)>(function)(&string, allocator);
  const size_t length = string.length < capacity ? string.length : capacity - 1;
  std::memcpy(name, string.text, length);
  name[length] = '\0';
  if (string.text != string.own) {
    void* const free = FindExport("_ZdlPv");
    if (free != nullptr) reinterpret_cast<void (*)(void*)>(free)(string.text);
  }
  return true;
}

// "GPU_0_bfc" is of device 0. kNotRecorded for memory of the host.
int DeviceNamed(const char* name) {
  constexpr char kGpu[] = "GPU_";
  constexpr size_t kPrefix = sizeof kGpu - 1;
  if (strncmp(name, kGpu, kPrefix) == 0 && name[kPrefix] >= '0' && name[kPrefix] <= '9') {
    int device = 0;
    for (const char* digit = name + kPrefix; *digit >= '0' && *digit <= '9' && device < kHostAsDevice; ++digit) {
      device = 10 * device + (*digit - '0');
    }
    return device < kHostAsDevice ? device : Allocators::kNotRecorded;
  }
  // Pinned memory is recorded where CUDA allocates it.
  const bool pinned = strstr(name, "host") != nullptr;
  return !pinned && RecordsHostMemory() ? kHostAsDevice : Allocators::kNotRecorded;
}

__attribute__((noinline, cold)) int LearnDevice(void* allocator, const void* caller) {
  char name[Allocators::kNameBytes];
  LoadedObject library;
  int device = Allocators::kNotRecorded;
  if (!FindLoadedObject(caller, &library)) return device;
  if (NameOf(allocator, library, name, sizeof name)) {
    device = DeviceNamed(name);
  } else {
    std::strcpy(name, "?");
    NoteUnseen(library.name(), schema::UNSEEN_BLOCKS);
  }
  Allocators::Learn(allocator, kFramework, name, device);
  return device;
}

int DeviceOf(void* allocator, const void* caller) {
  const int device = Allocators::DeviceOf(allocator);
  return __builtin_expect(device == Allocators::kUnknown, 0) ? LearnDevice(allocator, caller) : device;
}

__attribute__((noinline)) void NoteBlock(void* allocator, bool given_out, const void* block, int64_t bytes,
                                         const void* caller) {
  const int device = DeviceOf(allocator, caller);
  if (device < 0) return;
  Call call(kBlocks);
  if (!call.active()) return;
  Allocators::Define(allocator, &call);
  const auto address = reinterpret_cast<uint64_t>(block);
  if (given_out) {
    call.BlockAllocated(address, static_cast<uint64_t>(bytes), device);
  } else {
    call.BlockFreed(address, device);
  }
}

__attribute__((noinline)) void NoteFailure(void* allocator, size_t bytes, const void* caller) {
  const int device = DeviceOf(allocator, caller);
  if (device < 0) return;
  Call call(kBlocks);
  if (!call.active()) return;
  Allocators::Define(allocator, &call);
  BlockFailed(&call, bytes, device);
}

template <size_t kBytes>
bool Is(const char* text, size_t length, const char (&literal)[kBytes]) {
  return length == kBytes - 1 && std::memcmp(text, literal, kBytes - 1) == 0;
}

// TensorFlow calls the graph of a function `step` "__inference_step_42".
constexpr char kPrefix[] = "__inference_";

__attribute__((noinline)) void BeginFunction(const char* name) {
  char text[PlainName::kMaxBytes];
  strncpy(text, name + sizeof kPrefix - 1, sizeof text - 1);
  text[sizeof text - 1] = '\0';
  // The number tells apart versions of the function for other shapes.
  char* const number = strrchr(text, '_');
  if (number != nullptr && number != text) *number = '\0';
  RecordMark(schema::MARK_RANGE_PUSH, nullptr, text);
}

using NameFunction = const char* (*)(void* operation, void* status);

// Returns TFE_OpGetName of the library with this TFE_Execute; null if it cannot be known.
NameFunction NameFunctionOf(void* execute) {
  static ConcurrentTable known;  // by TFE_Execute
  const auto key = reinterpret_cast<uint64_t>(execute);
  if (const uint64_t found = known.Find(key)) return reinterpret_cast<NameFunction>(found);
  LoadedObject library;
  void* const found = FindLoadedObject(execute, &library) ? library.Find("TFE_OpGetName") : nullptr;
  if (found != nullptr) known.Insert(key, reinterpret_cast<uint64_t>(found));
  return reinterpret_cast<NameFunction>(found);
}

}  // namespace
}  // namespace vramtrack

#define ADD_TRACE_ME _ZN3tsl12BFCAllocator10AddTraceMeESt17basic_string_viewIcSt11char_traitsIcEEPKvll
#define DUMP_MEMORY_LOG _ZN3tsl12BFCAllocator13DumpMemoryLogEm
#define BASE_DESTRUCTOR _ZN3tsl12BFCAllocatorD2Ev
#define DESTRUCTOR _ZN3tsl12BFCAllocatorD1Ev

VRAMTRACK_EXPORT void ADD_TRACE_ME(void* allocator, size_t length, const char* text, const void* block,
                                   int64_t requested, int64_t allocated) {
  if (vramtrack::Is(text, length, "MemoryAllocation")) {
    vramtrack::NoteBlock(allocator, true, block, allocated, __builtin_return_address(0));
  } else if (vramtrack::Is(text, length, "MemoryDeallocation")) {
    vramtrack::NoteBlock(allocator, false, block, allocated, __builtin_return_address(0));
  }
  VRAMTRACK_PASS_ON(ADD_TRACE_ME, (void*, size_t, const char*, const void*, int64_t, int64_t),
                    (allocator, length, text, block, requested, allocated))
}

VRAMTRACK_EXPORT void DUMP_MEMORY_LOG(void* allocator, size_t bytes) {
  vramtrack::NoteFailure(allocator, bytes, __builtin_return_address(0));
  VRAMTRACK_PASS_ON(DUMP_MEMORY_LOG, (void*, size_t), (allocator, bytes))
}

VRAMTRACK_EXPORT void BASE_DESTRUCTOR(void* allocator) {
  vramtrack::Allocators::Forget(allocator);
  VRAMTRACK_PASS_ON(BASE_DESTRUCTOR, (void*), (allocator))
}

VRAMTRACK_EXPORT void DESTRUCTOR(void* allocator) {
  vramtrack::Allocators::Forget(allocator);
  VRAMTRACK_PASS_ON(DESTRUCTOR, (void*), (allocator))
}

VRAMTRACK_EXPORT void TFE_Execute(void* operation, void** results, int* count, void* status) {
  using namespace vramtrack;  // NOLINT
  void* const real = Providers::Real(Entry::k_TFE_Execute, __builtin_return_address(0));
  if (real == nullptr) return;
  // It does not use its status.
  const NameFunction name_of = NameFunctionOf(real);
  const char* const name = name_of == nullptr ? "" : name_of(operation, status);
  const bool function = strncmp(name, kPrefix, sizeof kPrefix - 1) == 0;
  if (function) BeginFunction(name);
  reinterpret_cast<void (*)(void*, void**, int*, void*)>(real)(operation, results, count, status);
  if (function) RecordMark(schema::MARK_RANGE_POP, nullptr, nullptr);
}
