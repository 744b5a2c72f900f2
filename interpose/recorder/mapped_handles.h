// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_MAPPED_HANDLES_H_
#define INTERPOSE_RECORDER_MAPPED_HANDLES_H_

#include <cstdint>

#include "interpose/base/compact_table.h"

namespace vramtrack {

// The lifetime of memory from cuMemCreate: it ends when its handle is released and its last mapping is removed,
// whichever comes later. Allocations are named by their identities, which are not 0. Zero-initialised memory is an
// empty object. If memory is short, mappings are forgotten, and the allocation ends with its release. Not thread-safe.
class MappedHandles {
 public:
  void OnCreate(uint64_t memory, uint64_t handle) {
    if (uint64_t* named = by_handle_.Insert(handle + 1)) *named = memory;
  }

  void OnMap(uint64_t mapping, uint64_t handle) {
    const uint64_t* memory = by_handle_.Find(handle + 1);
    if (memory == nullptr) return;
    Memory* mapped = memory_.Insert(*memory);
    uint64_t* of = mapped == nullptr ? nullptr : of_mapping_.Insert(mapping);
    if (of == nullptr) return;
    *of = *memory;
    ++mapped->mappings;
  }

  // Notes a release. Returns true if the memory is still mapped, so that it ends with its last mapping.
  bool OnRelease(uint64_t memory, uint64_t handle, uint64_t time) {
    const uint64_t* named = by_handle_.Find(handle + 1);
    if (named != nullptr && *named == memory) by_handle_.Erase(handle + 1);
    Memory* mapped = memory_.Find(memory);
    if (mapped == nullptr) return false;
    if (mapped->mappings == 0) {
      memory_.Erase(memory);
      return false;
    }
    mapped->released = time;
    return true;
  }

  // Notes that a mapping is removed. Returns the memory that ends with it, 0 for none.
  uint64_t OnUnmap(uint64_t mapping) {
    const uint64_t* of = of_mapping_.Find(mapping);
    if (of == nullptr) return 0;
    const uint64_t memory = *of;
    of_mapping_.Erase(mapping);
    Memory* mapped = memory_.Find(memory);
    if (mapped == nullptr || --mapped->mappings > 0 || mapped->released == 0) return 0;
    memory_.Erase(memory);
    return memory;
  }

  // Forgets memory that has ended, even if it is still mapped.
  void Forget(uint64_t memory) { memory_.Erase(memory); }

  // Calls `on_released(memory, time)` for memory that was released and is still mapped.
  template <typename OnReleased>
  void ForEachReleased(OnReleased on_released) {
    memory_.ForEach([&](uint64_t memory, const Memory* mapped) {
      if (mapped->released != 0) on_released(memory, mapped->released);
    });
  }

 private:
  struct Memory {
    uint64_t mappings, released;  // `released` is the time of the release, 0 before it
  };

  CompactTable<uint64_t> by_handle_;   // by 1 + handle
  CompactTable<Memory> memory_;        // memory that has been mapped
  CompactTable<uint64_t> of_mapping_;  // mapping to memory
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_MAPPED_HANDLES_H_
