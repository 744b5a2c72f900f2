// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_record.h"

#include <cstring>

#include "interpose/base/system_call.h"
#include "proto/hash.h"

namespace vramtrack {
namespace {

uint64_t BpOf(const Registers& start, BpUse use) { return use == BpUse::kDistance ? start.bp - start.sp : 0; }

}  // namespace

uint32_t StackRecord::FirstDifference(uint64_t sp, uint64_t* found) const {
  const uint64_t* word = words();
  uint32_t i = 0;
  for (; i < return_words; ++i) {
    *found = WordAt(sp, places[i]);
    if (*found != word[i] >> 16) return i;
  }
  for (; i < count(); ++i) {
    *found = WordAt(sp, places[i]) - sp;
    if (*found != word[i] >> 16) return i;
  }
  return kSame;
}

bool StackRecords::Same(const StackRecord& record, const Registers& start, const StackWalk& walk,
                        uint32_t epoch) const {
  return record.epoch == epoch && record.ip == start.ip && record.return_words == walk.return_words &&
         record.distance_words == walk.distance_words && record.bp_use == walk.bp_use &&
         record.bp == BpOf(start, walk.bp_use) &&
         std::memcmp(record.words(), walk.words, 8 * size_t{walk.return_words + walk.distance_words}) == 0;
}

uint32_t StackRecords::Find(const Registers& start, const StackWalk& walk, uint32_t epoch, uint64_t* hash) const {
  uint64_t h = (start.ip + BpOf(start, walk.bp_use) + epoch) * kHashMultiplier;
  for (uint32_t i = 0; i < walk.return_words + walk.distance_words; ++i) {
    h = (h ^ walk.words[i]) * kHashMultiplier;
    h ^= h >> 29;
  }
  *hash = h * kHashMultiplier;
  uint32_t index = buckets_[*hash >> (64 - kBucketBits)].load(std::memory_order_acquire);
  while (index != 0 && !Same(*At(index), start, walk, epoch)) index = At(index)->next;
  return index;
}

bool StackRecords::SeenBefore(uint64_t hash) {
  const auto mark = static_cast<uint32_t>(hash) | 1;
  std::atomic<uint32_t>& seen = seen_[hash >> (64 - kSeenBits)];
  const uint32_t there = seen.load(std::memory_order_relaxed);
  if (there == mark) return true;
  // Of stacks that share a place one gets through before the next comes: otherwise they would drive each other out.
  const uint32_t turn = turn_.load(std::memory_order_relaxed) * 0x9e3779b9u + 1;
  turn_.store(turn, std::memory_order_relaxed);
  if (there == 0 || turn >> 31 != 0) seen.store(mark, std::memory_order_relaxed);
  return false;
}

uint32_t StackRecords::Make(const Registers& start, const StackWalk& walk, uint32_t epoch, uint64_t hash,
                            uint32_t stack) {
  const size_t words = walk.return_words + walk.distance_words;
  const size_t bytes = sizeof(StackRecord) + 2 * StackRecord::PlacesRoom(words) + 8 * words;
  const auto units = static_cast<uint32_t>((bytes + 63) / 64);
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return 0;
  std::atomic<uint32_t>& bucket = buckets_[hash >> (64 - kBucketBits)];
  const uint32_t head = bucket.load(std::memory_order_relaxed);
  for (uint32_t index = head; index != 0; index = At(index)->next) {
    if (Same(*At(index), start, walk, epoch)) return index;
  }
  uint32_t used = used_.load(std::memory_order_relaxed);
  if (used == 0) {
    void* memory = MapPrivate(kMaxBytes);
    if (memory == nullptr) return 0;
    base_ = reinterpret_cast<uint64_t>(memory);
    used = 1;
  }
  if (used + units > kMaxBytes / 64) return 0;
  used_.store(used + units, std::memory_order_relaxed);
  auto* record = reinterpret_cast<StackRecord*>(base_ + 64 * uint64_t{used});
  record->ip = start.ip;
  record->bp = BpOf(start, walk.bp_use);
  record->stack = stack;
  record->epoch = epoch;
  record->reach = walk.reach;
  record->next = head;
  record->return_words = static_cast<uint16_t>(walk.return_words);
  record->distance_words = static_cast<uint16_t>(walk.distance_words);
  record->bp_use = walk.bp_use;
  const size_t room = StackRecord::PlacesRoom(words);
  const auto word = [&](size_t i) { return i < words ? i : words - 1; };
  record->sum = StackRecord::SumOfWords(room, [&](size_t i) { return walk.words[word(i)] >> 16; });
  record->sp_share = StackRecord::SumOfWords(room, [&](size_t i) { return uint64_t{word(i) >= walk.return_words}; });
  for (size_t i = 0; i < room; ++i) record->places[i] = static_cast<uint16_t>(walk.words[word(i)] & kMaxWordDistance);
  std::memcpy(const_cast<uint64_t*>(record->words()), walk.words, 8 * words);
  bucket.store(used, std::memory_order_release);
  return used;
}

}  // namespace vramtrack
