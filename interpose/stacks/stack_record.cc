// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_record.h"

#include <cstring>

#include "interpose/base/system_call.h"
#include "proto/hash.h"

namespace vramtrack {
namespace {

uint64_t At(uint64_t sp, uint64_t word) { return Load(sp + 8 * (word & kMaxWordDistance)); }
uint64_t ReturnAt(uint64_t sp, uint64_t word) { return At(sp, word) & kReturnBits; }

uint64_t BpOf(const Registers& start, BpUse use) { return use == BpUse::kDistance ? start.bp - start.sp : 0; }

}  // namespace

bool StackRecord::WordsHold(uint64_t sp) const {
  // Four at a time: otherwise the loop itself costs a tenth.
  uint64_t a = 0, b = 0, c = 0, d = 0;
  const uint64_t* word = words;
  const uint64_t* end = words + return_words;
  for (; word + 4 <= end; word += 4) {
    a |= ReturnAt(sp, word[0]) ^ word[0] >> 16;
    b |= ReturnAt(sp, word[1]) ^ word[1] >> 16;
    c |= ReturnAt(sp, word[2]) ^ word[2] >> 16;
    d |= ReturnAt(sp, word[3]) ^ word[3] >> 16;
  }
  for (; word != end; ++word) a |= ReturnAt(sp, *word) ^ *word >> 16;
  end += distance_words;
  for (; word + 4 <= end; word += 4) {
    a |= (At(sp, word[0]) - sp) ^ word[0] >> 16;
    b |= (At(sp, word[1]) - sp) ^ word[1] >> 16;
    c |= (At(sp, word[2]) - sp) ^ word[2] >> 16;
    d |= (At(sp, word[3]) - sp) ^ word[3] >> 16;
  }
  for (; word != end; ++word) b |= (At(sp, *word) - sp) ^ *word >> 16;
  return (a | b | c | d) == 0;
}

uint32_t StackRecord::FirstDifference(uint64_t sp, uint64_t* found) const {
  uint32_t i = 0;
  for (; i < return_words; ++i) {
    *found = ReturnAt(sp, words[i]);
    if (*found != words[i] >> 16) return i;
  }
  for (; i < uint32_t{return_words} + distance_words; ++i) {
    *found = At(sp, words[i]) - sp;
    if (*found != words[i] >> 16) return i;
  }
  return kSame;
}

bool StackRecords::Same(const StackRecord& record, const Registers& start, const StackWalk& walk,
                        uint32_t epoch) const {
  return record.epoch == epoch && record.ip == start.ip && record.return_words == walk.return_words &&
         record.distance_words == walk.distance_words && record.bp_use == walk.bp_use &&
         record.bp == BpOf(start, walk.bp_use) &&
         std::memcmp(record.words, walk.words, 8 * size_t{walk.return_words + walk.distance_words}) == 0;
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
  const auto units = static_cast<uint32_t>((sizeof(StackRecord) + 8 * words + 63) / 64);
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
  std::memcpy(record->words, walk.words, 8 * words);
  bucket.store(used, std::memory_order_release);
  return used;
}

}  // namespace vramtrack
