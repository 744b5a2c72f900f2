// SPDX-License-Identifier: Apache-2.0
#ifndef INTERPOSE_RECORDER_MAPPED_HANDLES_H_
#define INTERPOSE_RECORDER_MAPPED_HANDLES_H_

#include <cstdint>

#include "interpose/base/compact_table.h"

namespace vramtrack {

// Virtual memory management: memory from cuMemCreate lives until its handle is released and its last mapping is gone,
// whichever comes later. Allocations are named by their identities, which are not 0. Zero-initialised memory is an
// empty one. Where memory is short mappings are forgotten, and the memory ends with its release. Not thread-safe.
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

  // True: it is still mapped, and ends with its last mapping.
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

  // The memory that ends with this mapping, 0 for none.
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

  // The memory is gone, whatever is mapped.
  void Forget(uint64_t memory) { memory_.Erase(memory); }

  // `on_released(memory, time)` for memory that was released and is still mapped.
  template <typename OnReleased>
  void ForEachReleased(OnReleased on_released) {
    memory_.ForEach([&](uint64_t memory, const Memory* mapped) {
      if (mapped->released != 0) on_released(memory, mapped->released);
    });
  }

 private:
  struct Memory {
    uint64_t mappings, released;  // when, 0: not yet
  };

  CompactTable<uint64_t> by_handle_;   // by 1 + handle
  CompactTable<Memory> memory_;        // that has been mapped
  CompactTable<uint64_t> of_mapping_;  // mapping to memory
};

}  // namespace vramtrack

#endif  // INTERPOSE_RECORDER_MAPPED_HANDLES_H_
