// SPDX-License-Identifier: Apache-2.0
//
// Numbers stacks: the same return addresses under the same module map get the same number.
#ifndef INTERPOSE_STACKS_STACK_TABLE_H_
#define INTERPOSE_STACKS_STACK_TABLE_H_

#include <atomic>
#include <cstdint>

#include "interpose/recorder/concurrent_table.h"
#include "interpose/recorder/lane.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {

// Thread-safe; no lock where the stack is known. Zero-initialised memory is an empty table.
class StackTable {
 public:
  // The number of the stack, at least 1; 0 where it could not be recorded. What is new is defined in `lane` first, so
  // that no event in the file refers to a stack that is not there. Two threads that meet a new stack at the same moment
  // may define it twice, with different numbers.
  uint32_t Intern(const NativeStack& stack, ModuleMap* modules, Lane* lane);

  uint32_t count() const { return next_id_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    uint32_t id, module_epoch;
    uint32_t count;
    bool truncated;
    uint64_t frames[];
  };

  static bool Same(const Entry& entry, const NativeStack& stack, uint32_t epoch);
  Entry* NewEntry(size_t frames);

  ConcurrentTable by_hash_;
  std::atomic<uint32_t> next_id_;
  SpinLock arena_lock_;
  uint64_t arena_, arena_end_;  // the free part of the newest arena; arenas are never given back
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_TABLE_H_
