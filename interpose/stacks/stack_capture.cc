// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_capture.h"

#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "interpose/base/system_call.h"
#include "interpose/stacks/native_stack.h"
#include "interpose/stacks/rule_learner.h"
#include "interpose/stacks/stack_walk.h"
#include "proto/hash.h"

// From the linker.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
}

namespace vramtrack {
namespace {

// First guesses of a thread that hold between two publications of its counts.
constexpr uint32_t kPublishEvery = 4096;

// Of a stack that is not the thread's own: what is tried to be read at first, and at last.
constexpr uint64_t kFirstForeignBytes = 16 << 10, kLastForeignBytes = 1 << 20;

constexpr uint64_t kLeastPageBytes = 4096;  // the smallest there is
// Farther apart than this are a thread's stack and another one, not two places of a stack.
constexpr uint64_t kMaxDistance = 64 << 20;

constexpr int kTagBits = 32 - StackRecords::kIndexBits;
constexpr uint32_t kIndexMask = (1u << StackRecords::kIndexBits) - 1;
constexpr int kGroupBits = CaptureThread::kGuessBits - 2;
static_assert(CaptureThread::kGuessWays == 1 << 2, "a group is what the index does not say");

// The history's highest bits choose the group, the next ones the guess in it.
uint32_t TagOf(uint64_t history) {
  return static_cast<uint32_t>(history >> (64 - kGroupBits - kTagBits)) << StackRecords::kIndexBits;
}

}  // namespace

bool StackRegion::AllReadable(uint64_t from, uint64_t to) {
  if (unreadable_ >= from && unreadable_ < to && !IsReadable(unreadable_)) return false;
  for (uint64_t page = from & ~(kLeastPageBytes - 1); page < to; page += kLeastPageBytes) {
    if (!IsReadable(page)) {
      unreadable_ = page;
      return false;
    }
  }
  return true;
}

uint64_t StackRegion::ReadableEnd(uint64_t sp, uint64_t bytes) {
  uint64_t page = (sp & ~(kLeastPageBytes - 1)) + kLeastPageBytes;  // the first one has the present frame
  while (page < sp + bytes && IsReadable(page)) page += kLeastPageBytes;
  return page;
}

bool StackRegion::Extend(uint64_t sp) {
  if (sp % 8 != 0) return false;
  if (end_ != 0) {
    if (sp >= low_ || low_ - sp > kMaxDistance || !AllReadable(sp, low_)) return false;
    low_ = sp & ~(kLeastPageBytes - 1);
    return true;
  }
  // The first thread's block is not on its stack. Neither holds for a child that another thread has forked: its stack
  // counts as foreign.
  const bool first = ThreadId() == static_cast<uint32_t>(getpid());
  const uint64_t end = (first ? getauxval(AT_RANDOM) : static_cast<uint64_t>(pthread_self())) & ~uint64_t{7};
  if (sp >= end || end - sp > kMaxDistance || !AllReadable(sp, end)) return false;
  low_ = sp & ~(kLeastPageBytes - 1);
  end_ = end;
  return true;
}

CaptureThread* CaptureThreads::Acquire() {
  {
    SpinLockHolder hold(&lock_);
    if (!hold.held()) return nullptr;
    if (CaptureThread* thread = free_) {
      free_ = thread->next_free;
      return thread;
    }
  }
  auto* thread = static_cast<CaptureThread*>(MapPrivate(sizeof(CaptureThread)));
  if (thread == nullptr) return nullptr;
  SpinLockHolder hold(&lock_);
  if (!hold.held()) {
    Unmap(thread, sizeof(CaptureThread));
    return nullptr;
  }
  thread->next_of_all = all_.load(std::memory_order_relaxed);
  all_.store(thread, std::memory_order_release);
  return thread;
}

void CaptureThreads::Release(CaptureThread* thread) {
  thread->region.Forget();
  SpinLockHolder hold(&lock_);
  if (!hold.held()) return;  // it is not used again
  thread->next_free = free_;
  free_ = thread;
}

// Predicts which record matches the current stack, and checks the prediction word by word.
//
// The first guess is the record that followed the same five records earlier. If the stack differs from it at some word,
// the next guess is the record that was found after the same difference earlier. All words before the difference match,
// so the differing word is a real return address of this stack, and the same difference is likely to occur again.
//
// The prediction of one capture. Used by one thread; neither argument is owned.
class Prediction {
 public:
  Prediction(CaptureThread* thread, StackRecords* records) : thread_(thread), records_(records) {}

  // Returns the index of the first guess, or 0 if there is none.
  uint32_t First() const;
  // Returns whether a guess is the stack at `start`. `room` is the number of bytes from start.sp that can be read.
  // `index` must not be 0.
  bool Holds(uint32_t index, const Registers& start, uint64_t room, uint32_t epoch) const {
    const StackRecord* record = records_->At(index);
    return record->BeginsAt(start, room, epoch) && record->BpHolds(start) && record->WordsHold(start.sp);
  }
  // Notes the right answer: the index of the stack's record, or 0 if it has none.
  void Advance(uint32_t index);

  // Returns the index of the record that matches the stack, or 0 if no later guess was right. `index` is that of the
  // first one, which did not hold, or 0.
  uint32_t Later(uint32_t index, const Registers& start, uint64_t room, uint32_t epoch);
  // Reports the right answer after a Later that returned 0.
  void Was(uint32_t index);

 private:
  static constexpr int kMaxGuesses = 8;

  uint32_t* Group() const;
  uint32_t LaterGuess(uint32_t index, const Registers& start, uint64_t room, uint32_t epoch);
  void Note(uint32_t index);

  CaptureThread* thread_;
  StackRecords* records_;
  int guesses_ = 0;
  uint64_t keys_[kMaxGuesses];  // hashes of the differences found so far
};

uint32_t* Prediction::Group() const {
  return thread_->guesses + (thread_->history >> (64 - kGroupBits)) * CaptureThread::kGuessWays;
}

inline uint32_t Prediction::First() const {
  const uint32_t* group = Group();
  const uint32_t tag = TagOf(thread_->history);
  for (size_t way = 0; way < CaptureThread::kGuessWays; ++way) {
    if (((group[way] ^ tag) & ~kIndexMask) == 0) return group[way] & kIndexMask;
  }
  return 0;
}

uint32_t Prediction::Later(uint32_t index, const Registers& start, uint64_t room, uint32_t epoch) {
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
inline void Prediction::Advance(uint32_t index) {
  thread_->history = ((thread_->history << 13) + index + 1) * kHashMultiplier;
}

CodeRange OwnCode() { return {reinterpret_cast<uint64_t>(__ehdr_start), reinterpret_cast<uint64_t>(etext)}; }

void StackCapture::Prepare(size_t max_frames, const CodeRange& own, StackTable* stacks, ModuleMap* modules) {
  max_frames_ = max_frames;
  own_ = own;
  stacks_ = stacks;
  modules_ = modules;
  vramtrack_prepare_unwinder();
}

__attribute__((noinline)) uint32_t StackCapture::Take(CaptureThread* thread, const CodeRange* last,
                                                      EventWriter* writer) {
  const Registers start = CallerOf(__builtin_frame_address(0), __builtin_dwarf_cfa());
  const uint32_t epoch = modules_->epoch();
  uint32_t index = 0;
  if (__builtin_expect(thread->epoch == epoch && !modules_->refresh_due() && thread->region.Knows(start.sp), 1)) {
    Prediction prediction(thread, &records_);
    index = prediction.First();
    const uint64_t room = thread->region.end() - start.sp;
    if (__builtin_expect(index != 0 && prediction.Holds(index, start, room, RecordEpoch(epoch, last != nullptr)), 1)) {
      thread->Count(kFirstGuesses);
      prediction.Advance(index);
      if (__builtin_expect(thread->count(kFirstGuesses) % kPublishEvery == 0, 0)) Publish(thread, &writer->file());
      return records_.At(index)->stack;
    }
  }
  return TakeSlowly(start, last, index, thread, writer);
}

__attribute__((noinline)) uint32_t StackCapture::TakeSlowly(const Registers& start, const CodeRange* last,
                                                            uint32_t index, CaptureThread* thread,
                                                            EventWriter* writer) {
  const uint32_t generation = modules_->generation();
  const uint32_t stack =
      TakeAnyWay({start, last == nullptr ? CodeRange() : *last, modules_->epoch(), writer}, index, thread);
  if (modules_->generation() != generation) thread->modules_changed = true;
  return stack;
}

uint32_t StackCapture::TakeAnyWay(Request request, uint32_t index, CaptureThread* thread) {
  if (modules_->refresh_due()) {
    if (!modules_->Refresh(request.writer)) return Step(request, kModuleChanges, thread);
    request.epoch = modules_->epoch();
  }
  if (thread->epoch != request.epoch) {
    if (!rules_.BeginEpoch(request.epoch)) return Step(request, kModuleChanges, thread);
    thread->epoch = request.epoch;
  }
  if (!kHaveUnwindRules) return Step(request, kUnusualFrames, thread);
  const Registers& start = request.start;
  if (!thread->region.Covers(start.sp)) return WalkForeign(request, thread);
  Prediction prediction(thread, &records_);
  const uint64_t room = thread->region.end() - start.sp;
  if (index == 0) {
    index = prediction.First();
    if (index != 0 && prediction.Holds(index, start, room, request.RecordEpoch())) {
      thread->Count(kFirstGuesses);
      prediction.Advance(index);
      return records_.At(index)->stack;
    }
  }
  index = prediction.Later(index, start, room, request.RecordEpoch());
  return index != 0 ? records_.At(index)->stack : Walk(request, thread, &prediction);
}

__attribute__((noinline)) uint32_t StackCapture::Walk(const Request& request, CaptureThread* thread,
                                                      Prediction* prediction) {
  StackWalk* walk = &thread->walk;
  const WalkEnd end = WalkTo(request, thread->region.end(), thread);
  if (end != WalkEnd::kWhole && end != WalkEnd::kWithoutInformation) {
    prediction->Was(0);
    return Step(request, end == WalkEnd::kSignal ? kSignalFrames : kUnusualFrames, thread);
  }
  thread->Count(kWalks);
  if (!walk->recordable) {
    prediction->Was(0);
    return stacks_->Intern(walk->stack, modules_, request.writer);
  }
  uint64_t hash;
  uint32_t index = records_.Find(request.start, *walk, request.RecordEpoch(), &hash);
  if (index != 0) {
    prediction->Was(index);
    return records_.At(index)->stack;
  }
  const uint32_t stack = stacks_->Intern(walk->stack, modules_, request.writer);
  if (stack != 0 && modules_->epoch() == request.epoch && records_.SeenBefore(hash)) {
    index = records_.Make(request.start, *walk, request.RecordEpoch(), hash, stack);
  }
  prediction->Was(index);
  return stack;
}

__attribute__((noinline)) uint32_t StackCapture::WalkForeign(const Request& request, CaptureThread* thread) {
  WalkEnd end = WalkEnd::kOutside;
  for (uint64_t bytes = kFirstForeignBytes; end == WalkEnd::kOutside && bytes <= kLastForeignBytes; bytes *= 8) {
    end = WalkTo(request, StackRegion::ReadableEnd(request.start.sp, bytes), thread);
  }
  if (end != WalkEnd::kWhole && end != WalkEnd::kWithoutInformation) {
    return Step(request, end == WalkEnd::kSignal ? kSignalFrames : kUnusualFrames, thread);
  }
  thread->Count(kForeignWalks);
  return stacks_->Intern(thread->walk.stack, modules_, request.writer);
}

WalkEnd StackCapture::WalkTo(const Request& request, uint64_t limit, CaptureThread* thread) {
  RuleTable::Changes changes;
  const WalkEnd end = WalkByRules(request.start, limit, {max_frames_, own_, request.last}, request.epoch, &rules_,
                                  &changes, &thread->walk);
  if (__builtin_expect(changes.learned != 0, 0)) {
    thread->Count(kRulesLearned, changes.learned);
    thread->Count(kRulesEvicted, changes.evicted);
  }
  if (end == WalkEnd::kWithoutInformation) thread->Count(kWithoutInformation);
  return end;
}

uint32_t StackCapture::Step(const Request& request, CaptureCount why, CaptureThread* thread) {
  thread->Count(why);
  if (why == kSignalFrames) thread->through_signal = true;
  WalkByCursor(request.start, {max_frames_, own_, request.last}, &thread->walk.stack);
  return stacks_->Intern(thread->walk.stack, modules_, request.writer);
}

void StackCapture::Publish(CaptureThread* thread, TraceFile* file) const {
  static_assert(schema::COUNTER_STACK_RULES_EVICTED - schema::COUNTER_STACK_FIRST_GUESSES == kRulesEvicted,
                "the counters have the order of CaptureCount");
  for (uint32_t i = 0; i < kCaptureCounts; ++i) {
    const uint64_t more = thread->TakeUnpublished(static_cast<CaptureCount>(i));
    const auto which = static_cast<schema::Counter>(schema::COUNTER_STACK_FIRST_GUESSES + i);
    if (more != 0) file->counter(which)->fetch_add(more, std::memory_order_relaxed);
  }
  file->counter(schema::COUNTER_STACK_RECORD_BYTES)->store(records_.bytes(), std::memory_order_relaxed);
}

void StackCapture::PublishAll(TraceFile* file) const {
  threads_.EachThread([&](CaptureThread* thread) { Publish(thread, file); });
}

}  // namespace vramtrack
