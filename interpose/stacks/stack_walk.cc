// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_walk.h"

#define UNW_LOCAL_ONLY
#include <libunwind.h>

#include "interpose/loader/loaded_object.h"
#include "interpose/recorder/fork_gate.h"
#include "interpose/stacks/rule_learner.h"

// See third_party/libunwind/libunwind.BUILD.
extern "C" {
extern void (*unwinder_before_lock)();
extern void (*unwinder_after_unlock)();
}

namespace vramtrack {
namespace {

UnwindRule RuleOf(const Registers& frame) {
  vramtrack_step step;
  vramtrack_forget_readable_pages();
  if (!vramtrack_learn_step(frame.ip, frame.sp, frame.bp, &step)) return UnwindRule::Of(UnwindRule::kUnusual);
  if (step.result == 0 && step.has_unwind_information) return UnwindRule::Of(UnwindRule::kEnd);
  if (!step.has_unwind_information) {
    LoadedObject library;
    const bool known = FindLoadedObject(reinterpret_cast<const void*>(frame.ip - 1), &library);
    return UnwindRule::Of(known ? UnwindRule::kNoInformation : UnwindRule::kUnknownCode);
  }
  if (step.result < 0) return UnwindRule::Of(UnwindRule::kUnusual);
  const auto fits = [](int64_t bytes, uint64_t words) {
    return bytes >= 0 && bytes % 8 == 0 && static_cast<uint64_t>(bytes) / 8 <= words;
  };
#if defined(__aarch64__)
  if (step.kind == VRAMTRACK_STEP_STANDARD && step.saves_ip) {
    const int64_t slot = step.cfa_offset + step.ip_offset;  // from the base, as the CFA is
    const bool together = !step.saves_bp || step.bp_offset == step.ip_offset - 8;
    const int64_t lowest = step.saves_bp ? slot - 8 : slot;
    if (together && lowest >= 0 && step.ip_offset <= -8 && fits(slot, UnwindRule::kMaxJ) &&
        fits(step.cfa_offset, UnwindRule::kMaxK)) {
      return UnwindRule(UnwindRule::Frame(step.from_sp ? UnwindRule::kFromSp : UnwindRule::kFromBp,
                                          static_cast<uint64_t>(step.cfa_offset) / 8, static_cast<uint64_t>(slot) / 8)
                            .word() |
                        (step.saves_bp ? UnwindRule::kSavesBp : 0));
    }
  }
  return UnwindRule::Of(step.kind == VRAMTRACK_STEP_SIGNAL ? UnwindRule::kSignal : UnwindRule::kUnusual);
#else
  const int64_t k = step.cfa_offset - 8;  // of slot, in bytes
  const int64_t j = step.saves_bp ? -step.bp_offset - 8 : 0;
  switch (step.kind) {
    case VRAMTRACK_STEP_STANDARD:
      if (!fits(k, UnwindRule::kMaxK) || !fits(j, UnwindRule::kMaxJ) || (step.saves_bp && j == 0)) break;
      if (!step.from_sp) {
        return UnwindRule::Frame(UnwindRule::kFromBp, static_cast<uint64_t>(k) / 8, static_cast<uint64_t>(j) / 8);
      }
      if (j > k) break;  // saved below the stack pointer: where a signal handler may have written
      return UnwindRule::Frame(UnwindRule::kFromSp, static_cast<uint64_t>(k) / 8, static_cast<uint64_t>(j) / 8);
    case VRAMTRACK_STEP_REALIGNED:
      if (!fits(-step.cfa_offset, UnwindRule::kMaxK)) break;
      return UnwindRule::Frame(UnwindRule::kRealigned, static_cast<uint64_t>(-step.cfa_offset) / 8, 0);
    case VRAMTRACK_STEP_SIGNAL:
      return UnwindRule::Of(UnwindRule::kSignal);
    default:
      break;
  }
  return UnwindRule::Of(UnwindRule::kUnusual);
#endif
}

}  // namespace

UnwindRule RuleTable::Learn(const Registers& frame, Place place, uint32_t epoch, Changes* changes) {
  const UnwindRule rule = RuleOf(frame);
  const uint64_t word = place.tag | rule.word();
  ++changes->learned;
  if (rule.Is(UnwindRule::kUnknownCode)) return UnwindRule(word);
  SpinLockHolder hold(&lock_);
  if (!hold.held() || epoch != epoch_) return UnwindRule(word);
  size_t way = 0;
  for (; way < kWays; ++way) {
    const uint64_t there = words_[place.index ^ way].load(std::memory_order_relaxed);
    if (there == 0 || ((there ^ word) & UnwindRule::kTagMask) == 0) break;
  }
  if (way == kWays) {
    ++changes->evicted;
    way = changes->learned % kWays;
  }
  words_[place.index ^ way].store(word, std::memory_order_relaxed);
  return UnwindRule(word);
}

bool RuleTable::BeginEpoch(uint32_t epoch) {
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return false;
  if (static_cast<int32_t>(epoch - epoch_) <= 0) return true;
  for (std::atomic<uint64_t>& word : words_) word.store(0, std::memory_order_relaxed);
  epoch_ = epoch;
  return true;
}

namespace {

enum class Step { kDone, kAtEnd, kOut };

// What a step read: where the outer frame's return address lies, where its rbp was saved (0: unchanged), and where the
// place of a realigned frame's return address stood (0: it was another frame).
struct Read {
  uint64_t slot, bp_slot, place_slot;
};

#if defined(__aarch64__)

// One frame outwards; reads only from frame->sp to `end`.
Step StepOut(UnwindRule rule, uint64_t end, Registers* frame, Read* read) {
  const uint64_t base = rule.kind() == UnwindRule::kFromBp ? frame->bp : frame->sp;
  read->slot = base + 8 * rule.j();
  const uint64_t lowest = read->slot - (rule.saves_bp() ? 8 : 0);
  if (__builtin_expect(base < frame->sp || lowest < frame->sp || read->slot >= end || read->slot % 8 != 0, 0)) {
    return Step::kOut;
  }
  read->bp_slot = read->place_slot = 0;
  if (rule.saves_bp()) {
    read->bp_slot = lowest;
    frame->bp = Load(lowest);
  }
  frame->ip = WithoutSignature(Load(read->slot));
  frame->sp = base + 8 * rule.k();
  return __builtin_expect(frame->ip < kLowestCodeAddress, 0) ? Step::kAtEnd : Step::kDone;
}

#else

// One frame outwards; reads only from frame->sp to `end`. The branches are wanted: without them the walk is a tenth
// slower, because a predicted branch lets the processor run ahead of the loads.
Step StepOut(UnwindRule rule, uint64_t end, Registers* frame, Read* read) {
  if (__builtin_expect(rule.kind() == UnwindRule::kFromSp || rule.kind() == UnwindRule::kFromBp, 1)) {
    const uint64_t base = rule.kind() == UnwindRule::kFromBp ? frame->bp : frame->sp;
    read->slot = base + 8 * rule.k();
    const uint64_t lowest = read->slot - 8 * rule.j();
    if (__builtin_expect(lowest < frame->sp || read->slot >= end || read->slot < lowest || read->slot % 8 != 0, 0)) {
      return Step::kOut;
    }
    read->bp_slot = read->place_slot = 0;
    if (rule.j() != 0) {
      read->bp_slot = lowest;
      frame->bp = Load(lowest);
    }
  } else {
    const uint64_t at = frame->bp - 8 * rule.k();
    if (frame->bp >= end || at < frame->sp || at > frame->bp || at % 8 != 0) return Step::kOut;
    read->slot = Load(at) - 8;
    if (read->slot >= end || read->slot < frame->sp || read->slot % 8 != 0) return Step::kOut;
    read->place_slot = at;
    read->bp_slot = frame->bp;
    frame->bp = Load(frame->bp);
  }
  frame->ip = Load(read->slot);
  frame->sp = read->slot + 8;
  return __builtin_expect(frame->ip < kLowestCodeAddress, 0) ? Step::kAtEnd : Step::kDone;
}

#endif

// What a record says of the return address that a step has read. With fewer bits of address than 48, a signature begins
// below: then it is part of the word, and right only there.
uint64_t ReturnWord([[maybe_unused]] const Read& read, [[maybe_unused]] const Registers& frame) {
#if defined(__aarch64__)
  return Load(read.slot) & kReturnBits;
#else
  return frame.ip;
#endif
}

// The words of a walk so far.
class Notes {
 public:
  Notes(const Registers& start, StackWalk* walk) : start_(start), walk_(walk) {
    walk_->bp_use = BpUse::kNone;
    walk_->recordable = true;
    walk_->return_words = walk_->distance_words = walk_->reach = 0;
  }

  void Return(uint64_t slot, uint64_t value) {
    if (walk_->return_words == StackWalk::kMaxReturns) {
      walk_->recordable = false;
    } else {
      walk_->words[walk_->return_words++] = Word(slot, value);
    }
  }
  void BpSaved(uint64_t slot, uint64_t value) {
    bp_slot_ = slot;
    bp_ = value;
    bp_noted_ = false;
  }
  // The walk depends on the value of rbp that it has now.
  void BpUsed() {
    if (bp_noted_) return;
    bp_noted_ = true;
    if (bp_slot_ == 0) {
      walk_->bp_use = BpUse::kDistance;
    } else {
      Address(bp_slot_, bp_);
    }
  }
  // An address on the stack that was read at `slot`.
  void Address(uint64_t slot, uint64_t value) {
    if (walk_->distance_words == StackWalk::kMaxDistances) {
      walk_->recordable = false;
    } else {
      walk_->distances[walk_->distance_words++] = Word(slot, value - start_.sp);
    }
  }
  // ... and more than on its distance: it is 0.
  void BpIsZero() {
    if (bp_slot_ == 0) {
      walk_->recordable = walk_->recordable && walk_->bp_use == BpUse::kNone;
      walk_->bp_use = BpUse::kZero;
    } else {
      Return(bp_slot_, 0);
    }
  }
  void Unsayable() { walk_->recordable = false; }
  void Finish() {
    if (!walk_->recordable) return;
    for (uint32_t i = 0; i < walk_->distance_words; ++i) walk_->words[walk_->return_words + i] = walk_->distances[i];
  }

 private:
  uint64_t Word(uint64_t slot, uint64_t value) {
    const uint64_t distance = (slot - start_.sp) / 8;
    if (distance > kMaxWordDistance || value > kMaxWordValue) {
      walk_->recordable = false;
      return 0;
    }
    if (distance > walk_->reach) walk_->reach = static_cast<uint32_t>(distance);
    return StackWord(distance, value);
  }

  const Registers& start_;
  StackWalk* walk_;
  uint64_t bp_slot_ = 0, bp_ = 0;  // where the present rbp was read, and what it is; 0: it is the start's
  bool bp_noted_ = false;
};

}  // namespace

WalkEnd WalkByRules(const Registers& start, uint64_t end, const WalkBounds& bounds, uint32_t epoch, RuleTable* rules,
                    RuleTable::Changes* changes, StackWalk* walk) {
  Registers frame = start;
  Notes notes(start, walk);
  NativeStack& stack = walk->stack;
  stack.count = 0;
  stack.truncated = false;
  while (true) {
    if (stack.count != 0 || !bounds.own.Contains(frame.ip)) {
      if (stack.count == bounds.max_frames) {
        stack.truncated = true;
        break;
      }
      stack.frames[stack.count++] = frame.ip;
      if (bounds.last.Contains(frame.ip)) break;
    }
    const UnwindRule rule = rules->Find(frame, epoch, changes);
    if (__builtin_expect(rule.kind() == UnwindRule::kSpecial, 0)) {
      if (rule.Is(UnwindRule::kEnd)) break;
      if (rule.Is(UnwindRule::kNoInformation) || rule.Is(UnwindRule::kUnknownCode)) {
        if (rule.Is(UnwindRule::kUnknownCode)) notes.Unsayable();
        if (frame.bp == 0) {
          notes.BpIsZero();
          break;
        }
        notes.BpUsed();
        notes.Finish();
        stack.truncated = true;
        return WalkEnd::kWithoutInformation;
      }
      return rule.Is(UnwindRule::kSignal) ? WalkEnd::kSignal : WalkEnd::kUnusual;
    }
    if (rule.kind() != UnwindRule::kFromSp) notes.BpUsed();
    Read read;
    const Step step = StepOut(rule, end, &frame, &read);
    if (__builtin_expect(step == Step::kOut, 0)) return WalkEnd::kOutside;
    if (__builtin_expect(read.place_slot != 0, 0)) notes.Address(read.place_slot, read.slot + 8);
    if (read.bp_slot != 0) notes.BpSaved(read.bp_slot, frame.bp);
    notes.Return(read.slot, ReturnWord(read, frame));
    if (step == Step::kAtEnd) break;
  }
  notes.Finish();
  return WalkEnd::kWhole;
}

void WalkByCursor(const Registers& start, const WalkBounds& bounds, NativeStack* stack) {
  stack->count = 0;
  stack->truncated = false;
  unw_context_t context;
  unw_cursor_t cursor;
  unw_getcontext(&context);
  if (unw_init_local(&cursor, &context) < 0) return;
  vramtrack_forget_readable_pages();
  bool inside = true;  // not yet at `start`
  int stepped;
  while ((stepped = vramtrack_step_cursor(&cursor)) > 0) {
    unw_word_t ip = 0, sp = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &ip) < 0 || (ip = WithoutSignature(ip)) < kLowestCodeAddress) break;
    if (inside) {
      if (unw_get_reg(&cursor, UNW_REG_SP, &sp) < 0 || sp < start.sp) continue;
      inside = false;
    }
    if (stack->count == 0 && bounds.own.Contains(ip)) continue;
    if (stack->count == bounds.max_frames) {
      stack->truncated = true;
      break;
    }
    stack->frames[stack->count++] = ip;
    if (bounds.last.Contains(ip)) break;
  }
  // What lies outside of code without unwind information is not known.
  if (stepped < 0) stack->truncated = true;
}

void GateUnwinder() {
  unwinder_before_lock = ForkGate::Enter;
  unwinder_after_unlock = ForkGate::Leave;
}

}  // namespace vramtrack
