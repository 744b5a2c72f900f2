// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_table.h"

#include <cstring>

namespace vramtrack {
namespace {

constexpr size_t kArenaBytes = 1 << 20;

// Four independent chains, so that the processor multiplies them at the same time.
uint64_t HashOf(const StackWords& stack) {
  constexpr uint64_t kPrime = 0x9e3779b97f4a7c15;
  uint64_t a = stack.state + 1, b = stack.count, c = 0x2545f4914f6cdd1d, d = stack.sort + 3;
  size_t i = 0;
  for (; i + 4 <= stack.count; i += 4) {
    a = (a ^ stack.words[i]) * kPrime;
    b = (b ^ stack.words[i + 1]) * kPrime;
    c = (c ^ stack.words[i + 2]) * kPrime;
    d = (d ^ stack.words[i + 3]) * kPrime;
    a ^= a >> 32;
    b ^= b >> 32;
    c ^= c >> 32;
    d ^= d >> 32;
  }
  for (; i < stack.count; ++i) {
    a = (a ^ stack.words[i]) * kPrime;
    a ^= a >> 32;
  }
  const uint64_t h = ((a * 3 + b) * kPrime ^ (c * 5 + d)) * kPrime;
  return h ^ h >> 32 ^ (h == 0);
}

}  // namespace

uint32_t StackTable::Find(const StackWords& stack, uint64_t* key) const {
  *key = HashOf(stack);
  while (const uint64_t found = by_hash_.Find(*key)) {
    const auto* entry = reinterpret_cast<const Entry*>(found);
    if (__builtin_expect(entry->count == stack.count && entry->state == stack.state && entry->sort == stack.sort &&
                             std::memcmp(entry->words, stack.words, 8 * stack.count) == 0,
                         1)) {
      return entry->id;
    }
    *key = *key * 0x9e3779b97f4a7c15 + 1;  // another stack with the same hash
    *key += *key == 0;
  }
  return 0;
}

uint32_t StackTable::Intern(const NativeStack& stack, ModuleMap* modules, EventWriter* writer) {
  if (stack.count == 0) return 0;
  if (__builtin_expect(modules->refresh_due(), 0)) modules->Refresh(writer);
  const auto words = [&stack](uint32_t epoch) {
    return StackWords{StackWords::kNative, epoch << 1 | stack.truncated, stack.frames, stack.count};
  };
  uint64_t key;
  if (const uint32_t known = Find(words(modules->epoch()), &key)) return known;
  modules->Refresh(writer);
  const uint32_t epoch = modules->epoch();
  return Intern(words(epoch), writer, [&](uint32_t number) {
    return writer->DefineStack(number, epoch, stack.truncated, stack.frames, stack.count);
  });
}

StackTable::Entry* StackTable::NewEntry(const StackWords& stack) {
  const size_t bytes = (sizeof(Entry) + 8 * stack.count + 15) & ~size_t{15};
  Entry* entry;
  {
    SpinLockHolder hold(&arena_lock_);
    if (!hold.held()) return nullptr;
    if (arena_ + bytes > arena_end_) {
      void* fresh = MapPrivate(kArenaBytes);
      if (fresh == nullptr) return nullptr;
      arena_ = reinterpret_cast<uint64_t>(fresh);
      arena_end_ = arena_ + kArenaBytes;
    }
    entry = reinterpret_cast<Entry*>(arena_);
    arena_ += bytes;
  }
  entry->sort = stack.sort;
  entry->id = NextNumber();
  entry->state = stack.state;
  entry->count = static_cast<uint32_t>(stack.count);
  std::memcpy(entry->words, stack.words, 8 * stack.count);
  return entry;
}

void StackTable::Publish(uint64_t key, Entry* entry, EventWriter* writer) {
  by_hash_.Insert(key, reinterpret_cast<uint64_t>(entry));
  CountIn(writer);
}

void StackTable::CountIn(EventWriter* writer) const {
  writer->file().counter(schema::COUNTER_STACKS)->store(count(), std::memory_order_relaxed);
}

namespace {

bool Define(uint32_t number, uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node,
            EventWriter* writer) {
  namespace f = schema::joinedStack_field;
  return writer->Define<64>(schema::definitions_field::joined_stacks, [&](MessageWriter* out) {
    out->Varint(f::id, number);
    out->Varint(f::native, native);
    out->Varint(f::python, python);
    out->Varint(f::forward, forward);
    out->Varint(f::node, node);
  });
}

}  // namespace

__attribute__((cold)) uint32_t JoinNewStacks(uint32_t native, uint32_t python, uint32_t forward, schema::GraphNode node,
                                             StackTable* stacks, EventWriter* writer) {
  const uint32_t joined = stacks->Intern(JoinedKey(native, python, forward, node), writer, [&](uint32_t number) {
    return Define(number, native, python, forward, node, writer);
  });
  return joined != 0 ? joined : native;
}

void DefineForward(uint32_t number, uint32_t stack, schema::GraphNode node, EventWriter* writer) {
  // What cannot be defined stays unknown.
  Define(number, 0, stack, 0, node, writer);
}

}  // namespace vramtrack
