// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_table.h"

#include <cstring>

namespace vramtrack {
namespace {

constexpr size_t kArenaBytes = 1 << 20;

// Four independent chains, so that the processor multiplies them at the same time.
uint64_t HashOf(const NativeStack& stack, uint32_t epoch) {
  constexpr uint64_t kPrime = 0x9e3779b97f4a7c15;
  uint64_t a = epoch + 1, b = stack.count, c = 0x2545f4914f6cdd1d, d = stack.truncated + 3;
  size_t i = 0;
  for (; i + 4 <= stack.count; i += 4) {
    a = (a ^ stack.frames[i]) * kPrime;
    b = (b ^ stack.frames[i + 1]) * kPrime;
    c = (c ^ stack.frames[i + 2]) * kPrime;
    d = (d ^ stack.frames[i + 3]) * kPrime;
    a ^= a >> 32;
    b ^= b >> 32;
    c ^= c >> 32;
    d ^= d >> 32;
  }
  for (; i < stack.count; ++i) {
    a = (a ^ stack.frames[i]) * kPrime;
    a ^= a >> 32;
  }
  const uint64_t h = ((a * 3 + b) * kPrime ^ (c * 5 + d)) * kPrime;
  return h ^ h >> 32 ^ (h == 0);
}

}  // namespace

bool StackTable::Same(const Entry& entry, const NativeStack& stack, uint32_t epoch) {
  return entry.count == stack.count && entry.module_epoch == epoch && entry.truncated == stack.truncated &&
         std::memcmp(entry.frames, stack.frames, 8 * stack.count) == 0;
}

uint32_t StackTable::Intern(const NativeStack& stack, ModuleMap* modules, Lane* lane) {
  if (stack.count == 0) return 0;
  if (__builtin_expect(modules->refresh_due(), 0)) modules->Refresh(lane);
  uint32_t epoch = modules->epoch();
  uint64_t key = HashOf(stack, epoch);
  while (const uint64_t found = by_hash_.Find(key)) {
    const auto* entry = reinterpret_cast<const Entry*>(found);
    if (__builtin_expect(Same(*entry, stack, epoch), 1)) return entry->id;
    key = key * 0x9e3779b97f4a7c15 + 1;  // another stack with the same hash
    key += key == 0;
  }

  modules->Refresh(lane);
  if (modules->epoch() != epoch) {
    epoch = modules->epoch();
    key = HashOf(stack, epoch);
  }
  Entry* entry = NewEntry(stack.count);
  if (entry == nullptr) return 0;
  entry->id = next_id_.fetch_add(1, std::memory_order_relaxed) + 1;
  entry->module_epoch = epoch;
  entry->count = static_cast<uint32_t>(stack.count);
  entry->truncated = stack.truncated;
  std::memcpy(entry->frames, stack.frames, 8 * stack.count);
  if (!lane->DefineStack(entry->id, epoch, stack.truncated, stack.frames, stack.count)) return 0;
  by_hash_.Insert(key, reinterpret_cast<uint64_t>(entry));
  lane->file().counter(schema::COUNTER_STACKS)->store(count(), std::memory_order_relaxed);
  return entry->id;
}

StackTable::Entry* StackTable::NewEntry(size_t frames) {
  const size_t bytes = (sizeof(Entry) + 8 * frames + 15) & ~size_t{15};
  SpinLockHolder hold(&arena_lock_);
  if (!hold.held()) return nullptr;
  if (arena_ + bytes > arena_end_) {
    void* fresh = MapPrivate(kArenaBytes);
    if (fresh == nullptr) return nullptr;
    arena_ = reinterpret_cast<uint64_t>(fresh);
    arena_end_ = arena_ + kArenaBytes;
  }
  auto* entry = reinterpret_cast<Entry*>(arena_);
  arena_ += bytes;
  return entry;
}

}  // namespace vramtrack
