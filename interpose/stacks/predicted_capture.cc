// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/predicted_capture.h"

#include "proto/hash.h"

namespace vramtrack {
namespace {

constexpr int kTagBits = 32 - StackRecords::kIndexBits;
constexpr uint32_t kIndexMask = (1u << StackRecords::kIndexBits) - 1;
constexpr int kGroupBits = CaptureThread::kGuessBits - 2;
static_assert(CaptureThread::kGuessWays == 1 << 2, "a group is what the index does not say");

// The history's highest bits choose the group, the next ones the guess in it.
uint32_t TagOf(uint64_t history) {
  return static_cast<uint32_t>(history >> (64 - kGroupBits - kTagBits)) << StackRecords::kIndexBits;
}

}  // namespace

uint32_t* Prediction::Group() const {
  return thread_->guesses + (thread_->history >> (64 - kGroupBits)) * CaptureThread::kGuessWays;
}

uint32_t Prediction::Guess(const Registers& start, uint64_t room, uint32_t epoch) {
  const uint32_t* group = Group();
  const uint32_t tag = TagOf(thread_->history);
  uint32_t index = 0;
  for (size_t way = 0; way < CaptureThread::kGuessWays; ++way) {
    if (((group[way] ^ tag) & ~kIndexMask) == 0) {
      index = group[way] & kIndexMask;
      break;
    }
  }
  if (__builtin_expect(index != 0, 1)) {
    const StackRecord* record = records_->At(index);
    if (__builtin_expect(record->BeginsAt(start, room, epoch) && record->BpHolds(start) && record->WordsHold(start.sp),
                         1)) {
      thread_->Count(kFirstGuesses);
      Advance(index);
      return index;
    }
  }
  index = LaterGuess(index, start, room, epoch);
  if (index == 0) return 0;
  thread_->Count(kLaterGuesses);
  Note(index);
  Advance(index);
  return index;
}

// `index`: the guess that did not hold, or 0.
uint32_t Prediction::LaterGuess(uint32_t index, const Registers& start, uint64_t room, uint32_t epoch) {
  while (true) {
    const StackRecord* record = records_->At(index);
    uint64_t found = 0;
    uint32_t where = StackRecord::kStart;
    if (index != 0 && record->BeginsAt(start, room, epoch)) {
      if (!record->BpHolds(start)) {
        where = StackRecord::kBp;
        found = start.bp - start.sp;
      } else {
        where = record->FirstDifference(start.sp, &found);
        if (where == StackRecord::kSame) return index;
      }
    }
    keys_[guesses_++] =
        where == StackRecord::kStart ? Mix(Mix(start.ip, epoch), 0) : Mix(Mix(index, where), found) * kHashMultiplier;
    if (guesses_ == kMaxGuesses) return 0;
    const uint32_t next = records_->After(keys_[guesses_ - 1]);
    if (next == 0 || next == index) return 0;
    index = next;
  }
}

void Prediction::Was(uint32_t index) {
  if (index != 0) {
    // The way so far stays as it is, unless it led nowhere: other stacks are found by it.
    for (int i = guesses_ == kMaxGuesses ? 0 : guesses_ - 1; i < guesses_; ++i) records_->SetAfter(keys_[i], index);
    Note(index);
  }
  Advance(index);
}

void Prediction::Note(uint32_t index) {
  uint32_t* group = Group();
  const uint32_t tag = TagOf(thread_->history);
  size_t way = 0;
  while (way < CaptureThread::kGuessWays && ((group[way] ^ tag) & ~kIndexMask) != 0) ++way;
  // Where all are taken the new one comes first and the last one is dropped.
  if (way == CaptureThread::kGuessWays) --way;
  for (; way > 0; --way) group[way] = group[way - 1];
  group[0] = tag | index;
}

// Older records are shifted out after five.
void Prediction::Advance(uint32_t index) {
  thread_->history = ((thread_->history << 13) + index + 1) * kHashMultiplier;
}

}  // namespace vramtrack
