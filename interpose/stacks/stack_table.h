// SPDX-License-Identifier: Apache-2.0
//
// Numbers stacks of all sorts: the same words get the same number, and no two that differ do.
#ifndef INTERPOSE_STACKS_STACK_TABLE_H_
#define INTERPOSE_STACKS_STACK_TABLE_H_

#include <atomic>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/recorder/lane.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/native_stack.h"

namespace vramtrack {

// What a stack is: words of some meaning, told apart by `sort` and by `state`, whatever else a sort's stacks differ in.
struct StackWords {
  enum Sort : uint32_t { kNative, kPython };

  Sort sort;
  uint32_t state;
  const uint64_t* words;
  size_t count;
};

// Thread-safe; no lock where the stack is known. Zero-initialised memory is an empty table.
class StackTable {
 public:
  // The number of the stack, at least 1; 0 where it could not be recorded. Where it is new `define(number)` is called,
  // which says whether it could define it in the trace, before anybody gets the number. Two threads that meet a new
  // stack at the same moment may define it twice, with different numbers.
  template <typename Define>
  uint32_t Intern(const StackWords& stack, Lane* lane, Define define) {
    uint64_t key;
    if (const uint32_t known = Find(stack, &key)) return known;
    Entry* entry = NewEntry(stack);
    if (entry == nullptr || !define(entry->id)) return 0;
    Publish(key, entry, lane);
    return entry->id;
  }

  // The same for a stack that one word says, which is not 0.
  template <typename Define>
  uint32_t Intern(uint64_t word, Lane* lane, Define define) {
    if (const uint64_t known = by_word_.Find(word)) return static_cast<uint32_t>(known);
    const uint32_t number = NextNumber();
    if (!define(number)) return 0;
    by_word_.Insert(word, number);
    CountIn(lane);
    return number;
  }

  // The same for return addresses; they mean what they say under the module map of the moment.
  uint32_t Intern(const NativeStack& stack, ModuleMap* modules, Lane* lane);

  // A number for what will be defined later, or never.
  uint32_t Reserve() { return NextNumber(); }

  uint32_t count() const { return next_id_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    StackWords::Sort sort;
    uint32_t id, state, count;
    uint64_t words[];
  };

  // 0 where it is not known; `*key` is where it belongs then.
  uint32_t Find(const StackWords& stack, uint64_t* key) const;
  Entry* NewEntry(const StackWords& stack);
  void Publish(uint64_t key, Entry* entry, Lane* lane);
  uint32_t NextNumber() { return next_id_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void CountIn(Lane* lane) const;

  ConcurrentTable by_hash_, by_word_;
  std::atomic<uint32_t> next_id_;
  SpinLock arena_lock_;
  uint64_t arena_, arena_end_;  // the free part of the newest arena; arenas are never given back
};

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_TABLE_H_
