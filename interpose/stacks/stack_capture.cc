// SPDX-License-Identifier: Apache-2.0
#include "interpose/stacks/stack_capture.h"

#include "interpose/stacks/cursor_walk.h"
#include "interpose/stacks/predicted_capture.h"
#include "interpose/stacks/registers.h"
#include "interpose/stacks/rule_learner.h"
#include "interpose/stacks/stack_walk.h"

// From the linker.
extern "C" {
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char etext[] __attribute__((visibility("hidden")));
}

namespace vramtrack {
namespace {

// Captures of a thread between two publications of the counts.
constexpr uint64_t kPublishEvery = 4096;

// Of a stack that is not the thread's own: what is tried to be read at first, and at last.
constexpr uint64_t kFirstForeignBytes = 16 << 10, kLastForeignBytes = 1 << 20;

}  // namespace

CodeRange OwnCode() { return {reinterpret_cast<uint64_t>(__ehdr_start), reinterpret_cast<uint64_t>(etext)}; }

void StackCapture::Prepare(size_t max_frames, const CodeRange& own) {
  max_frames_ = max_frames;
  own_ = own;
  vramtrack_prepare_unwinder();
}

__attribute__((noinline)) uint32_t StackCapture::Take(CaptureThread* thread, StackTable* stacks, ModuleMap* modules,
                                                      Lane* lane) {
  const Registers start = CallerOf(__builtin_frame_address(0));
  if (__builtin_expect(modules->refresh_due(), 0) && !modules->Refresh(lane)) {
    return Step(start, kModuleChanges, thread, stacks, modules, lane);
  }
  const uint32_t epoch = modules->epoch();
  if (__builtin_expect(thread->epoch != epoch, 0)) {
    if (!rules_.BeginEpoch(epoch)) return Step(start, kModuleChanges, thread, stacks, modules, lane);
    thread->epoch = epoch;
  }
  if (!kHaveUnwindRules) return Step(start, kUnusualFrames, thread, stacks, modules, lane);
  if (__builtin_expect(!thread->region.Covers(start.sp), 0)) {
    return WalkForeign(start, epoch, thread, stacks, modules, lane);
  }
  Prediction prediction(thread, &records_);
  const uint32_t index = prediction.Guess(start, thread->region.end() - start.sp, epoch);
  if (__builtin_expect(index == 0, 0)) return Walk(start, epoch, thread, &prediction, stacks, modules, lane);
  if (__builtin_expect(thread->count(kFirstGuesses) % kPublishEvery == 0, 0)) Publish(&lane->file());
  return records_.At(index)->stack;
}

__attribute__((noinline)) uint32_t StackCapture::Walk(const Registers& start, uint32_t epoch, CaptureThread* thread,
                                                      Prediction* prediction, StackTable* stacks, ModuleMap* modules,
                                                      Lane* lane) {
  StackWalk* walk = &thread->walk;
  const WalkEnd end = WalkTo(start, thread->region.end(), epoch, thread);
  if (end != WalkEnd::kWhole && end != WalkEnd::kWithoutInformation) {
    prediction->Was(0);
    return Step(start, end == WalkEnd::kSignal ? kSignalFrames : kUnusualFrames, thread, stacks, modules, lane);
  }
  thread->Count(kWalks);
  if (!walk->recordable) {
    prediction->Was(0);
    return stacks->Intern(walk->stack, modules, lane);
  }
  uint64_t hash;
  uint32_t index = records_.Find(start, *walk, epoch, &hash);
  if (index != 0) {
    prediction->Was(index);
    return records_.At(index)->stack;
  }
  const uint32_t stack = stacks->Intern(walk->stack, modules, lane);
  if (stack != 0 && modules->epoch() == epoch && records_.SeenBefore(hash)) {
    index = records_.Make(start, *walk, epoch, hash, stack);
  }
  prediction->Was(index);
  return stack;
}

__attribute__((noinline)) uint32_t StackCapture::WalkForeign(const Registers& start, uint32_t epoch,
                                                             CaptureThread* thread, StackTable* stacks,
                                                             ModuleMap* modules, Lane* lane) {
  WalkEnd end = WalkEnd::kOutside;
  for (uint64_t bytes = kFirstForeignBytes; end == WalkEnd::kOutside && bytes <= kLastForeignBytes; bytes *= 8) {
    end = WalkTo(start, StackRegion::ReadableEnd(start.sp, bytes), epoch, thread);
  }
  if (end != WalkEnd::kWhole && end != WalkEnd::kWithoutInformation) {
    return Step(start, end == WalkEnd::kSignal ? kSignalFrames : kUnusualFrames, thread, stacks, modules, lane);
  }
  thread->Count(kForeignWalks);
  return stacks->Intern(thread->walk.stack, modules, lane);
}

WalkEnd StackCapture::WalkTo(const Registers& start, uint64_t limit, uint32_t epoch, CaptureThread* thread) {
  RuleTable::Changes changes;
  const WalkEnd end = WalkByRules(start, limit, max_frames_, own_, epoch, &rules_, &changes, &thread->walk);
  if (__builtin_expect(changes.learned != 0, 0)) {
    thread->Count(kRulesLearned, changes.learned);
    thread->Count(kRulesEvicted, changes.evicted);
  }
  if (end == WalkEnd::kWithoutInformation) thread->Count(kWithoutInformation);
  return end;
}

uint32_t StackCapture::Step(const Registers& start, CaptureCount why, CaptureThread* thread, StackTable* stacks,
                            ModuleMap* modules, Lane* lane) {
  thread->Count(why);
  WalkByCursor(start, max_frames_, own_, &thread->walk.stack);
  return stacks->Intern(thread->walk.stack, modules, lane);
}

void StackCapture::Publish(TraceFile* file) const {
  static_assert(schema::COUNTER_STACK_RULES_EVICTED - schema::COUNTER_STACK_FIRST_GUESSES == kRulesEvicted,
                "the counters have the order of CaptureCount");
  for (uint32_t i = 0; i < kCaptureCounts; ++i) {
    const auto which = static_cast<schema::Counter>(schema::COUNTER_STACK_FIRST_GUESSES + i);
    file->counter(which)->store(threads_.Sum(static_cast<CaptureCount>(i)), std::memory_order_relaxed);
  }
  file->counter(schema::COUNTER_STACK_RECORD_BYTES)->store(records_.bytes(), std::memory_order_relaxed);
}

}  // namespace vramtrack
