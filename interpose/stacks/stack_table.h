// SPDX-License-Identifier: Apache-2.0
//
// Assigns numbers to stacks of all kinds. Equal stacks get the same number, and different stacks get different numbers.
#ifndef INTERPOSE_STACKS_STACK_TABLE_H_
#define INTERPOSE_STACKS_STACK_TABLE_H_

#include <atomic>
#include <cstdint>

#include "interpose/base/concurrent_table.h"
#include "interpose/recorder/event_writer.h"
#include "interpose/stacks/module_map.h"
#include "interpose/stacks/native_stack.h"
#include "proto/schema_constants.h"

namespace vramtrack {

// The identity of a stack: its words, the sort of stack, and `state`, whose meaning depends on the sort. Does not own
// the words.
struct StackWords {
  enum Sort : uint32_t { kNative, kPython };

  Sort sort;
  uint32_t state;
  const uint64_t* words;
  size_t count;
};

// The stacks that are defined in the trace. Thread-safe; a lookup of a known stack takes no lock. Zero-initialised
// memory is an empty table.
class StackTable {
 public:
  // Returns the number of the stack, which is at least 1, or 0 if the stack could not be recorded or the trace has no
  // room for more. For a new stack it calls `define(number)` before any thread gets the number; this must define the
  // stack in the trace and return whether it succeeded. Two threads that find a new stack at the same time may define
  // it twice, with different numbers.
  template <typename Define>
  uint32_t Intern(const StackWords& stack, EventWriter* writer, Define define) {
    uint64_t key;
    if (const uint32_t known = Find(stack, &key)) return known;
    if (writer->file().crowded()) return 0;
    Entry* entry = NewEntry(stack);
    if (entry == nullptr || !define(entry->id)) return 0;
    Publish(key, entry, writer);
    return entry->id;
  }

  // Does the same for a stack that is identified by one word, which must not be 0.
  template <typename Define>
  uint32_t Intern(uint64_t word, EventWriter* writer, Define define) {
    if (const uint32_t known = FindWord(word)) return known;
    if (writer->file().crowded()) return 0;
    const uint32_t number = NextNumber();
    if (!define(number)) return 0;
    by_word_.Insert(word, number);
    CountIn(writer);
    return number;
  }

  // Does the same for native return addresses, which are interpreted with the current module map. Refreshes the map if
  // needed. Returns 0 for an empty stack.
  uint32_t Intern(const NativeStack& stack, ModuleMap* modules, EventWriter* writer);

  // Returns the number of a known stack that is identified by one word, or 0.
  uint32_t FindWord(uint64_t word) const { return static_cast<uint32_t>(by_word_.Find(word)); }

  // Returns a new number, for a stack that will be defined later or never.
  uint32_t Reserve() { return NextNumber(); }

  // Returns how many numbers were assigned.
  uint32_t count() const { return next_id_.load(std::memory_order_relaxed); }

 private:
  struct Entry {
    StackWords::Sort sort;
    uint32_t id, state, count;
    uint64_t words[];
  };

  // Returns the number of a known stack, or 0. In the second case `*key` is the key to publish it under.
  uint32_t Find(const StackWords& stack, uint64_t* key) const;
  Entry* NewEntry(const StackWords& stack);
  void Publish(uint64_t key, Entry* entry, EventWriter* writer);
  uint32_t NextNumber() { return next_id_.fetch_add(1, std::memory_order_relaxed) + 1; }
  void CountIn(EventWriter* writer) const;

  ConcurrentTable by_hash_, by_word_;
  std::atomic<uint32_t> next_id_;
  SpinLock arena_lock_;
  uint64_t arena_, arena_end_;  // free part of the newest arena; arenas are never unmapped
};

// The key of a joined stack. One word that says it all, as long as there are not more than a million stacks; then a
// hash of it.
inline uint64_t JoinedKey(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node) {
  constexpr int kBits = 20;
  constexpr uint64_t kPrime = 0x9e3779b97f4a7c15;
  static_assert(schema::NODE_ACCUMULATE < 16, "four bits are left");
  if (__builtin_expect((native | python | forward) >> kBits == 0, 1)) {
    return native | uint64_t{python} << kBits | uint64_t{forward} << 2 * kBits | uint64_t{node} << 3 * kBits;
  }
  uint64_t hash = (native | uint64_t{python} << 32) * kPrime;
  hash = (hash ^ hash >> 32 ^ forward ^ uint64_t{node} << 32) * kPrime;
  return (hash ^ hash >> 32) | 1;
}

// The rest of JoinStacks, for parts that were not joined before.
uint32_t JoinNewStacks(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node, StackTable* stacks,
                       EventWriter* writer);

// Returns the stack number for an event, from the numbers of the stack's parts; 0 means that a part is missing. Returns
// `native` if there are no other parts, and the number of a JoinedStack otherwise. Defines a new JoinedStack in
// `writer` first; returns `native` if that fails. `forward` is the PythonStack of the forward call that made the graph
// node being evaluated. Thread-safe; does not allocate from the heap.
inline uint32_t JoinStacks(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node,
                           StackTable* stacks, EventWriter* writer) {
  if (python == 0 && forward == 0 && node == schema::NODE_NONE) return native;
  const uint32_t known = stacks->FindWord(JoinedKey(native, python, forward, node));
  return __builtin_expect(known != 0, 1) ? known : JoinNewStacks(native, python, forward, node, stacks, writer);
}

// Defines `number`, which joined stacks refer to as their forward call although it was not known yet. `stack` is the
// PythonStack of the forward call, or 0 if there is none. `node` is the kind of node of those stacks.
void DefineForward(uint32_t number, uint32_t stack, schema::GraphNode node, EventWriter* writer);

}  // namespace vramtrack

#endif  // INTERPOSE_STACKS_STACK_TABLE_H_
